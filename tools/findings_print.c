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

/* Columns of the screen: bytes that continue a character take none. */
static int width(const char *text)
{
    int n = 0;
    for (; text && *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* " ± " and half the width of an interval; columns of a column's cells are aligned at its end. */
static int width_of_cell(const struct table *t, size_t i)
{
    return width(t->cell[i]) + (t->half[i] ? 3 + width(t->half[i]) : 0);
}

static int width_of(const struct table *t, size_t column)
{
    int most = width(t->header[column]);
    for (size_t i = column; i < t->cells; i += t->columns)
        most = width_of_cell(t, i) > most ? width_of_cell(t, i) : most;
    return most;
}

static void print_blanks(FILE *f, int n)
{
    for (; n > 0; n--)
        fputc(' ', f);
}

/* A column is aligned to the right if its first cell is a number. `half` may be null. */
static void print_cell(FILE *f, const struct table *t, size_t column, const char *text, const char *half)
{
    int blanks = width_of(t, column) - width(text) - (half ? 3 + width(half) : 0);
    int last = column + 1 == t->columns, right = column < t->cells && t->is_number[column];
    print_blanks(f, right ? blanks : 0);
    fprintf(f, half ? "%s ± %s" : "%s", text, half);
    print_blanks(f, right || last ? 0 : blanks);
    fputs(last ? "\n" : "  ", f);
}

static void print_table(FILE *f, const struct table *t)
{
    fprintf(f, "%s\n", t->name);
    for (size_t c = 0; c < t->columns; c++)
        print_cell(f, t, c, t->header[c], NULL);
    for (size_t i = 0; i < t->cells; i++)
        print_cell(f, t, i % t->columns, t->cell[i], t->half[i]);
}

static int is_shown(const struct findings *r, const struct part *p)
{
    return p->kind != PART_RUN && !(p->kind == PART_PLOT && r->no_plots) &&
           !(p->kind == PART_TABLE && p->table->data_only);
}

static void print_terminal(const struct findings *r, FILE *f, int columns)
{
    enum part_kind before = PART_LINES;
    for (const struct part *p = r->first; p; p = p->next) {
        if (!is_shown(r, p))
            continue;
        if (p != r->first && (p->kind != PART_LINES || before != PART_LINES))
            fputc('\n', f);
        if (p->kind == PART_TEXT || p->kind == PART_ANSWER)
            print_text(f, p->text, columns);
        else if (p->kind == PART_LINES)
            fputs(p->text, f);
        else if (p->kind == PART_TABLE)
            print_table(f, p->table);
        else if (p->kind == PART_PLOT)
            plot_term(f, p->plot, columns);
        before = p->kind;
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
        if (t->half[i])
            fprintf(f, ", \"%s ±\": %s", t->header[i % t->columns], t->half[i]);
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

/* A column with intervals becomes two. */
static void csv_columns(FILE *f, const struct table *t, size_t column, const char *text, const char *half)
{
    csv_cell(f, text);
    if (t->has_half[column]) {
        fputc(',', f);
        csv_cell(f, half ? half : "");
    }
    fputc(column + 1 < t->columns ? ',' : '\n', f);
}

static void csv_table(FILE *f, const struct table *t)
{
    char name[128];
    fprintf(f, "# %s\n", t->name);
    for (size_t c = 0; c < t->columns; c++) {
        snprintf(name, sizeof name, "%s ±", t->header[c]);
        csv_columns(f, t, c, t->header[c], name);
    }
    for (size_t i = 0; i < t->cells; i++)
        csv_columns(f, t, i % t->columns, t->cell[i], t->half[i]);
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
