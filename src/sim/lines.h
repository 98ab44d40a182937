/* lines.h: text files that others wrote, line by line, from a file or from memory.
 *
 * A '#' begins a comment that ends with the line. Comments, blanks at both ends and empty lines are gone
 * from what the reader sees. A byte that is no text (below ' ' other than a tab or a line end, or 127) is
 * refused, and so are lines that are too long or too many: whatever is given, the reader ends.
 */
#ifndef FILCH_SIM_LINES_H
#define FILCH_SIM_LINES_H

#include <stddef.h>
#include <stdio.h>

enum {
    LINES_LENGTH = 4096,     /* bytes of a line, its end included */
    LINES_MOST = 10000000,   /* lines with something on them */
    LINES_ALL = 100000000,   /* all lines */
};

struct lines {
    const char *name; /* for messages */
    size_t number;    /* of the line in text[], from 1 */
    size_t full;      /* lines returned so far */
    FILE *from;       /* null: from memory */
    const char *at, *end;
    char text[LINES_LENGTH];
};

/* `name` stays valid as long as the reader is used. */
void lines_from_file(struct lines *l, FILE *from, const char *name);
void lines_from_memory(struct lines *l, const void *data, size_t size, const char *name);

/* 1: the next line is in l->text; 0: there is none left; -EINVAL: refused, with a message
 * "NAME:LINE: what is wrong". */
int lines_next(struct lines *l, char *message, size_t size);

#endif
