/* findings.h: what a command found out, collected once and written in every form: for the terminal, as JSON,
 * CSV, SVG and as a page. Parts are written in the order in which they were added. */
#ifndef FINDINGS_H
#define FINDINGS_H

#include "plot.h"
#include "sim_page.h"
#include <stddef.h>
#include <stdio.h>

struct findings;
struct table;

/* `command` is what repeats it. null without memory. */
struct findings *findings_new(const char *title, const char *command);
void findings_free(struct findings *r);

/* Memory that lives as long as the findings, zeroed; ends the program if there is none. */
void *findings_keep(struct findings *r, size_t bytes);
char *findings_format(struct findings *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

void findings_parameter(struct findings *r, const char *name, const char *value);

/* A paragraph. */
void findings_text(struct findings *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The sentence that answers the question; "answers" in JSON. */
void findings_answer(struct findings *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Lines for the terminal that are not wrapped: a log, statistics. Pages leave them out. */
void findings_lines(struct findings *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table; `columns` separated by '|'. Rows by table_cell, from left to right. */
struct table *findings_table(struct findings *r, const char *name, const char *columns);
/* The same for programs and pages: the terminal has it as lines. */
struct table *findings_data(struct findings *r, const char *name, const char *columns);
void table_text(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A figure with so many digits behind the point; what is not finite is shown as -. */
void table_number(struct table *t, double value, int digits);
/* "12.3 ± 0.4": one cell for people, two figures for programs. */
void table_interval(struct table *t, double mean, double half_width, int digits);

/* The plot is copied; what it points to must be kept or constant. */
void findings_plot(struct findings *r, const struct plot *p);
/* The terminal leaves plots out; files have them. */
void findings_hide_plots(struct findings *r);
/* A run to step through, in pages only. What it points to must be kept. */
void findings_run(struct findings *r, const struct page_run *run);

enum findings_form { FINDINGS_TERMINAL, FINDINGS_JSON, FINDINGS_CSV };

void findings_print(const struct findings *r, FILE *f, enum findings_form form, int columns);
/* 0 or -errno. The first plot, or with "%d" in the name each of them. */
int findings_svg(const struct findings *r, const char *path);
int findings_html(const struct findings *r, const char *path);

#endif
