#include "bench_report.h"
#include "json.h"
#include <filch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double row_median(const struct plan_row *row)
{
    double sorted[PLAN_ROUNDS_MAX];
    memcpy(sorted, row->samples, (size_t)row->n * sizeof *sorted);
    qsort(sorted, (size_t)row->n, sizeof *sorted, compare);
    return (sorted[(row->n - 1) / 2] + sorted[row->n / 2]) / 2;
}

static double row_best(const struct plan_row *row)
{
    return row->samples[row->best];
}

static double row_figure(const struct plan_row *row, const char *key)
{
    for (int i = 0; i < row->figure_count; i++)
        if (!strcmp(row->figures[i].key, key))
            return row->figures[i].value;
    return 0;
}

/* ---- programs ------------------------------------------------------------------------------ */

static void row_json(const struct plan_row *row)
{
    struct json j = json_open(stdout);
    json_string(&j, "suite", row->suite);
    json_string(&j, "case", row->name);
    json_string(&j, "runtime", row->runtime);
    json_string(&j, "mode", row->mode);
    json_number(&j, "workers", row->workers);
    if (!row->error[0])
        json_number(&j, "ns_per_op", row_best(row));
    json_string(&j, "version", filch_version());
    json_string(&j, "build", row->build);
    if (row->error[0]) {
        json_string(&j, "error", row->error);
    } else {
        json_number(&j, "median", row_median(row));
        for (int i = 0; i < row->figure_count; i++)
            json_number(&j, row->figures[i].key, row->figures[i].value);
        json_string(&j, "runtime_version", row->runtime_version);
        json_numbers(&j, "samples", row->samples, row->n);
    }
    json_close(&j);
}

static void row_csv(const struct plan_row *row)
{
    printf("%s,%s,%s,%s,%s,%d,", row->suite, row->name, row->runtime, row->build, row->mode,
           row->workers);
    if (row->error[0])
        printf(",,,,%s,\"", filch_version());
    else
        printf("%.6g,%.6g,%.0f,%d,%s,\"", row_best(row), row_median(row), row_figure(row, "size"),
               row->n, filch_version());
    for (const char *c = row->error; *c; c++)
        printf(*c == '"' ? "\"\"" : "%c", *c);
    printf("\"\n");
    fflush(stdout);
}

/* ---- people -------------------------------------------------------------------------------- */

static const struct plan_row *serial_find(const struct plan_row *rows, int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(rows[i].runtime, "serial") && !rows[i].error[0])
            return &rows[i];
    return NULL;
}

static void table_head(const struct plan_row *first, const struct plan_row *serial)
{
    printf("\n%s/%s", first->suite, first->name);
    if (serial)
        printf(": %.0f operations, size %.0f", row_figure(serial, "operations"),
               row_figure(serial, "size"));
    printf("\n%-9s%-9s%-10s%7s%12s%12s", "runtime", "mode", "build", "workers", "ns/op",
           "median");
    printf(serial ? "%8s%8s\n" : "\n", "T1/Ts", "Ts/Tn");
}

/* How much slower than serial code one worker is, or how much faster several are. */
static void ratio_print(const struct plan_row *row, const struct plan_row *serial)
{
    double ts = row_best(serial), t = row_best(row);
    if (row->workers == 1)
        printf("%8.2f%8s", t / ts, "");
    else
        printf("%8s%8.2f", "", ts / t);
    if (row_figure(row, "size") != row_figure(serial, "size"))
        printf("  size %.0f", row_figure(row, "size"));
}

static void figures_print(const struct plan_row *row)
{
    for (int i = 0; i < row->figure_count; i++)
        if (strcmp(row->figures[i].key, "size"))
            printf("  %s %.6g", row->figures[i].key, row->figures[i].value);
}

static void row_table(const struct plan_row *row, const struct plan_row *serial)
{
    printf("%-9s%-9s%-10s%7d", row->runtime, row->mode, row->build, row->workers);
    if (row->error[0]) {
        printf("  %s\n", row->error);
        return;
    }
    printf("%12.2f%12.2f", row_best(row), row_median(row));
    if (serial)
        ratio_print(row, serial);
    else
        figures_print(row);
    printf("\n");
}

void report_begin(enum report_form form)
{
    if (form == REPORT_CSV)
        puts("suite,case,runtime,build,mode,workers,ns_per_op,median,size,rounds,version,error");
}

void report_case(enum report_form form, const struct plan_row *rows, int n)
{
    const struct plan_row *serial = serial_find(rows, n);
    if (form == REPORT_TABLE)
        table_head(rows, serial);
    for (int i = 0; i < n; i++) {
        if (form == REPORT_JSON)
            row_json(&rows[i]);
        else if (form == REPORT_CSV)
            row_csv(&rows[i]);
        else
            row_table(&rows[i], serial);
    }
    fflush(stdout);
}
