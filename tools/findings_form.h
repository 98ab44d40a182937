/* findings_form.h: the parts of findings, for the files that write them. */
#ifndef FINDINGS_FORM_H
#define FINDINGS_FORM_H

#include "findings.h"

enum { FINDINGS_PARAMETERS = 96, TABLE_COLUMNS = 24 };

enum part_kind { PART_TEXT, PART_ANSWER, PART_LINES, PART_TABLE, PART_PLOT, PART_RUN };

struct table {
    struct findings *findings;
    const char *name;
    const char *header[TABLE_COLUMNS];
    size_t columns;
    const char **cell; /* row by row */
    const char **half; /* of each cell: half the width of its interval, or null */
    unsigned char *is_number;
    unsigned char has_half[TABLE_COLUMNS]; /* the column has intervals */
    size_t cells, room;
    int data_only;     /* not shown in the terminal */
};

struct part {
    struct part *next;
    enum part_kind kind;
    const char *text;
    const struct table *table;
    const struct plot *plot;
    const struct page_run *run;
};

struct findings {
    const char *title, *command;
    const char *name[FINDINGS_PARAMETERS], *value[FINDINGS_PARAMETERS];
    size_t parameters;
    int no_plots;      /* in the terminal */
    struct part *first, **last;
    struct kept *kept;
};

#endif
