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

/* What a row is compared with; 0: there is no such thing. */
struct ratios {
    double ratio;  /* filch's figure divided by the row's; of filch's own row: */
    double peer;   /* its figure divided by the best peer's ...                */
    double serial; /* ... and by serial code's                                 */
};

static int row_is(const struct plan_row *row, const char *runtime)
{
    return !strcmp(row->runtime, runtime);
}

static double row_ratio(const struct plan_row *row, const struct plan_row *rows, int n)
{
    if (!row->compare || row->error[0])
        return 0;
    for (int i = 0; i < n; i++)
        if (row_is(&rows[i], "filch") && !strcmp(rows[i].mode, row->mode) &&
            rows[i].workers == row->workers && !rows[i].error[0])
            return row_best(&rows[i]) / row_best(row);
    return 0;
}

static double peer_best(const struct plan_row *row, const struct plan_row *rows, int n)
{
    double best = 0;
    for (int i = 0; i < n; i++)
        if (rows[i].compare && !row_is(&rows[i], "serial") && rows[i].workers == row->workers &&
            !rows[i].error[0] && (best <= 0 || row_best(&rows[i]) < best))
            best = row_best(&rows[i]);
    return best;
}

static struct ratios row_ratios(const struct plan_row *row, const struct plan_row *rows, int n,
                                const struct plan_row *serial)
{
    struct ratios r = {.ratio = row_ratio(row, rows, n)};
    if (!row->rank || row->error[0])
        return r;
    double best = peer_best(row, rows, n);
    r.peer = best > 0 ? row_best(row) / best : 0;
    r.serial = serial ? row_best(row) / row_best(serial) : 0;
    return r;
}

static const struct plan_row *serial_find(const struct plan_row *rows, int n)
{
    for (int i = 0; i < n; i++)
        if (row_is(&rows[i], "serial") && !rows[i].error[0])
            return &rows[i];
    return NULL;
}

/* ---- programs ------------------------------------------------------------------------------ */

static void row_json(const struct plan_row *row, struct ratios r)
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
        if (r.ratio > 0)
            json_number(&j, "ratio", r.ratio);
        if (r.peer > 0)
            json_number(&j, "peer_ratio", r.peer);
        if (r.serial > 0)
            json_number(&j, "serial_ratio", r.serial);
        if (row->bar > 0)
            json_number(&j, "bar", row->bar);
        for (int i = 0; i < row->figure_count; i++)
            json_number(&j, row->figures[i].key, row->figures[i].value);
        json_string(&j, "runtime_version", row->runtime_version);
        json_numbers(&j, "samples", row->samples, row->n);
    }
    json_close(&j);
}

static void csv_number(double value)
{
    if (value > 0)
        printf(",%.6g", value);
    else
        printf(",");
}

static void row_csv(const struct plan_row *row, struct ratios r)
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
    printf("\"");
    csv_number(r.ratio);
    csv_number(row->bar);
    csv_number(r.peer);
    csv_number(r.serial);
    printf("\n");
    fflush(stdout);
}

/* ---- people -------------------------------------------------------------------------------- */

/* The columns after the times: gains over serial code, or filch against each peer and its bar, or
 * against each peer, the best one, and serial code. */
enum columns { COLUMNS_GAIN, COLUMNS_BAR, COLUMNS_RANK, COLUMNS_NONE };

static enum columns columns_choose(const struct plan_row *rows, int n, const struct plan_row *serial)
{
    int compare = 0, rank = 0;
    for (int i = 0; i < n; i++) {
        compare |= rows[i].compare;
        rank |= rows[i].rank;
    }
    if (rank)
        return COLUMNS_RANK;
    if (compare)
        return COLUMNS_BAR;
    return serial ? COLUMNS_GAIN : COLUMNS_NONE;
}

static void table_head(const struct plan_row *first, const struct plan_row *serial, enum columns columns)
{
    printf("\n%s/%s", first->suite, first->name);
    if (serial)
        printf(": %.0f operations, size %.0f", row_figure(serial, "operations"),
               row_figure(serial, "size"));
    printf("\n%-9s%-9s%-10s%7s%12s%12s", "runtime", "mode", "build", "workers", "ns/op",
           "median");
    if (columns == COLUMNS_GAIN)
        printf("%8s%8s", "T1/Ts", "Ts/Tn");
    if (columns == COLUMNS_BAR)
        printf("%9s%6s", "filch/x", "<=");
    if (columns == COLUMNS_RANK)
        printf("%9s%9s%9s", "filch/x", "/peer", "/serial");
    printf("\n");
}

/* How much slower than serial code one worker is, or how much faster several are. */
static void speedup_print(const struct plan_row *row, const struct plan_row *serial)
{
    double ts = row_best(serial), t = row_best(row);
    if (row->workers == 1)
        printf("%8.2f%8s", t / ts, "");
    else
        printf("%8s%8.2f", "", ts / t);
    if (row_figure(row, "size") != row_figure(serial, "size"))
        printf("  size %.0f", row_figure(row, "size"));
}

/* Filch's figure against the peer's, and the bar, marked if it is missed. */
static void ratio_print(const struct plan_row *row, double ratio)
{
    char bar[16] = "";
    if (row->bar > 0)
        snprintf(bar, sizeof bar, "%.2f%s", row->bar, ratio > row->bar ? "!" : "");
    if (ratio > 0)
        printf("%9.3f  %-5s", ratio, bar);
    else
        printf("%9s  %-5s", "", bar);
}

static void rank_print(struct ratios r)
{
    double values[] = {r.ratio, r.peer, r.serial};
    for (int i = 0; i < 3; i++)
        if (values[i] > 0)
            printf("%9.3f", values[i]);
        else
            printf("%9s", "");
}

static void figures_print(const struct plan_row *row)
{
    for (int i = 0; i < row->figure_count; i++)
        if (strcmp(row->figures[i].key, "size"))
            printf("  %s %.6g", row->figures[i].key, row->figures[i].value);
}

static void row_table(const struct plan_row *row, const struct plan_row *serial, enum columns columns,
                      struct ratios r)
{
    printf("%-9s%-9s%-10s%7d", row->runtime, row->mode, row->build, row->workers);
    if (row->error[0]) {
        printf("  %s\n", row->error);
        return;
    }
    printf("%12.2f%12.2f", row_best(row), row_median(row));
    if (columns == COLUMNS_BAR)
        ratio_print(row, r.ratio);
    if (columns == COLUMNS_RANK)
        rank_print(r);
    if (columns == COLUMNS_GAIN)
        speedup_print(row, serial);
    if (!serial)
        figures_print(row);
    printf("\n");
}

void report_begin(enum report_form form)
{
    if (form == REPORT_CSV)
        puts("suite,case,runtime,build,mode,workers,ns_per_op,median,size,rounds,version,error,"
             "ratio,bar,peer_ratio,serial_ratio");
}

void report_case(enum report_form form, const struct plan_row *rows, int n)
{
    const struct plan_row *serial = serial_find(rows, n);
    enum columns columns = columns_choose(rows, n, serial);
    if (form == REPORT_TABLE)
        table_head(rows, serial, columns);
    for (int i = 0; i < n; i++) {
        struct ratios r = row_ratios(&rows[i], rows, n, serial);
        if (form == REPORT_JSON)
            row_json(&rows[i], r);
        else if (form == REPORT_CSV)
            row_csv(&rows[i], r);
        else
            row_table(&rows[i], serial, columns, r);
    }
    fflush(stdout);
}
