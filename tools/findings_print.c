/* findings_print.c: findings for the terminal, as JSON and as CSV. */
#include "findings_form.h"
#include "term.h"
#include <filch.h>
#include <string.h>

/* ---- terminal ----------------------------------------------------------------------------- */

/* Wrapped at blanks. */
static void print_text(FILE *f, const char *text, int columns)
{
    int at = 0;
    while (*(text += strspn(text, " "))) {
        size_t n = strcspn(text, " ");
        if (at > 0 && at + 1 + (int)n > columns) {
            fputc('\n', f);
            at = 0;
        }
        at += fprintf(f, "%s%.*s", at > 0 ? " " : "", (int)n, text);
        text += n;
    }
    fputc('\n', f);
}

static int width_of(const struct table *t, size_t column)
{
    size_t most = strlen(t->header[column]);
    for (size_t i = column; i < t->cells; i += t->columns)
        most = strlen(t->cell[i]) > most ? strlen(t->cell[i]) : most;
    return (int)most;
}

/* A column is aligned to the right if its first cell is a number. */
static void print_cell(FILE *f, const struct table *t, size_t column, const char *text)
{
    int width = width_of(t, column), last = column + 1 == t->columns;
    if (column < t->cells && t->is_number[column])
        fprintf(f, "%*s", width, text);
    else
        fprintf(f, "%-*s", last ? 0 : width, text);
    fputs(last ? "\n" : "  ", f);
}

static void print_table(FILE *f, const struct table *t)
{
    fprintf(f, "%s\n", t->name);
    for (size_t c = 0; c < t->columns; c++)
        print_cell(f, t, c, t->header[c]);
    for (size_t i = 0; i < t->cells; i++)
        print_cell(f, t, i % t->columns, t->cell[i]);
}

static void print_terminal(const struct findings *r, FILE *f, int columns)
{
    enum part_kind before = PART_LINES;
    for (const struct part *p = r->first; p; p = p->next) {
        if (p != r->first && (p->kind != PART_LINES || before != PART_LINES) && p->kind != PART_RUN)
            fputc('\n', f);
        if (p->kind == PART_TEXT || p->kind == PART_ANSWER)
            print_text(f, p->text, columns);
        else if (p->kind == PART_LINES)
            fputs(p->text, f);
        else if (p->kind == PART_TABLE)
            print_table(f, p->table);
        else if (p->kind == PART_PLOT)
            plot_term(f, p->plot, columns);
        before = p->kind == PART_RUN ? before : p->kind;
    }
    fprintf(f, "\nfilch %s; to repeat: %s\n", filch_version(), r->command);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void json_text(FILE *f, const char *text)
{
    fputc('"', f);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(f, "\\%c", *c);
        else if (*c < ' ')
            fprintf(f, "\\u%04x", *c);
        else
            fputc(*c, f);
    }
    fputc('"', f);
}

static void json_pair(FILE *f, const char *key, const char *value, int first)
{
    fputs(first ? "" : ", ", f);
    json_text(f, key);
    fputs(": ", f);
    json_text(f, value);
}

static void json_table(FILE *f, const struct table *t)
{
    json_text(f, t->name);
    fputs(": [", f);
    for (size_t i = 0; i < t->cells; i++) {
        fputs(i % t->columns ? ", " : i ? "}, {" : "{", f);
        json_text(f, t->header[i % t->columns]);
        fputs(": ", f);
        if (t->is_number[i])
            fputs(t->cell[i], f);
        else
            json_text(f, t->cell[i]);
    }
    fputs(t->cells ? "}]" : "]", f);
}

static void json_answers(const struct findings *r, FILE *f)
{
    int first = 1;
    fputs(", \"answers\": [", f);
    for (const struct part *p = r->first; p; p = p->next) {
        if (p->kind != PART_ANSWER)
            continue;
        fputs(first ? "" : ", ", f);
        json_text(f, p->text);
        first = 0;
    }
    fputc(']', f);
}

static void print_json(const struct findings *r, FILE *f)
{
    int first = 1;
    fputc('{', f);
    json_pair(f, "command", r->command, 1);
    json_pair(f, "version", filch_version(), 0);
    fputs(", \"parameters\": {", f);
    for (size_t i = 0; i < r->parameters; i++)
        json_pair(f, r->name[i], r->value[i], i == 0);
    fputs("}, \"tables\": {", f);
    for (const struct part *p = r->first; p; p = p->next) {
        if (p->kind != PART_TABLE)
            continue;
        fputs(first ? "" : ", ", f);
        json_table(f, p->table);
        first = 0;
    }
    fputc('}', f);
    json_answers(r, f);
    fputs("}\n", f);
}

/* ---- CSV ---------------------------------------------------------------------------------- */

static void csv_cell(FILE *f, const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; text++)
        fprintf(f, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', f);
}

static void csv_table(FILE *f, const struct table *t)
{
    fprintf(f, "# %s\n", t->name);
    for (size_t c = 0; c < t->columns; c++) {
        csv_cell(f, t->header[c]);
        fputc(c + 1 < t->columns ? ',' : '\n', f);
    }
    for (size_t i = 0; i < t->cells; i++) {
        csv_cell(f, t->cell[i]);
        fputc(i % t->columns + 1 < t->columns ? ',' : '\n', f);
    }
}

static void print_csv(const struct findings *r, FILE *f)
{
    fprintf(f, "# filch %s: %s\n#", filch_version(), r->command);
    for (size_t i = 0; i < r->parameters; i++)
        fprintf(f, " %s=%s", r->name[i], r->value[i]);
    fputc('\n', f);
    for (const struct part *p = r->first; p; p = p->next)
        if (p->kind == PART_TABLE)
            csv_table(f, p->table);
}

void findings_print(const struct findings *r, FILE *f, enum findings_form form, int columns)
{
    if (form == FINDINGS_JSON)
        print_json(r, f);
    else if (form == FINDINGS_CSV)
        print_csv(r, f);
    else
        print_terminal(r, f, columns);
}
