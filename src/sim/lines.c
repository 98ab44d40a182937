#include "sim/lines.h"
#include "sim/refuse.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

void lines_from_file(struct lines *l, FILE *from, const char *name)
{
    l->name = name;
    l->number = l->full = 0;
    l->from = from;
    l->at = l->end = NULL;
}

void lines_from_memory(struct lines *l, const void *data, size_t size, const char *name)
{
    lines_from_file(l, NULL, name);
    l->at = data;
    l->end = size ? l->at + size : l->at;
}

static int next_byte(struct lines *l)
{
    if (l->from)
        return getc_unlocked(l->from); /* no other thread has this file */
    return l->at == l->end ? EOF : (unsigned char)*l->at++;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts the comment and the blanks at both ends off text[0 .. length). */
static void trim(char *text, size_t length)
{
    char *comment = memchr(text, '#', length);
    if (comment)
        length = (size_t)(comment - text);
    while (length && is_blank(text[length - 1]))
        length--;
    size_t start = 0;
    while (start < length && is_blank(text[start]))
        start++;
    memmove(text, text + start, length - start);
    text[length - start] = '\0';
}

/* One line of the input. 1, 0 at the end, or what lines_next() returns. */
static int read_line(struct lines *l, char *message, size_t size)
{
    size_t length = 0;
    int c = next_byte(l);
    l->number += c != EOF;
    if (c == EOF && l->from && ferror(l->from))
        return sim_refuse(message, size, "%s:%zu: cannot be read", l->name, l->number + 1);
    if (c == EOF)
        return 0;
    for (; c != '\n' && c != EOF; c = next_byte(l)) {
        if (length == LINES_LENGTH - 1)
            return sim_refuse(message, size, "%s:%zu: the line has more than %d bytes", l->name, l->number,
                              LINES_LENGTH - 1);
        if ((c < ' ' && c != '\t' && c != '\r') || c == 127)
            return sim_refuse(message, size, "%s:%zu: byte 0x%02x; only text may stand here", l->name,
                              l->number, (unsigned)c);
        l->text[length++] = (char)c;
    }
    trim(l->text, length);
    return 1;
}

int lines_next(struct lines *l, char *message, size_t size)
{
    int got;
    do {
        got = read_line(l, message, size);
    } while (got == 1 && l->text[0] == '\0' && l->number < LINES_ALL);
    if (got == 1 && (l->number == LINES_ALL || l->full++ == LINES_MOST))
        return sim_refuse(message, size, "%s:%zu: too long; at most %d lines, %d with the empty ones",
                          l->name, l->number, LINES_MOST, LINES_ALL - 1);
    return got;
}
