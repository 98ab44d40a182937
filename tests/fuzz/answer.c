/* What a benchmark program prints, which may be a program that crashed half-way or another one of
 * that name. A line that is not an answer leaves no sample behind. */
#define _GNU_SOURCE
#include "fuzz.h"

#include "tools/bench_run.c"

static void check_row(const struct plan_row *row, int samples)
{
    FUZZ_CHECK(row->n == samples && row->best >= 0 && row->best < row->n + !row->n);
    FUZZ_CHECK(row->figure_count >= 0 && row->figure_count <= PLAN_FIGURES);
    for (int i = 0; i < row->figure_count; i++)
        FUZZ_CHECK(memchr(row->figures[i].key, 0, sizeof row->figures[i].key));
    FUZZ_CHECK(memchr(row->runtime_version, 0, sizeof row->runtime_version));
    FUZZ_CHECK(!strchr(row->runtime_version, '\n'));
    FUZZ_CHECK(memchr(row->error, 0, sizeof row->error) && !strchr(row->error, '\n'));
}

/* Figures come from this answer, not from an earlier one. */
static void check_figures(const struct plan_row *row, const uint8_t *data, size_t size)
{
    for (int i = 0; i < row->figure_count; i++) {
        const char *key = row->figures[i].key;
        FUZZ_CHECK(memmem(data, size, key, strlen(key)));
    }
}

/* As run_once does it after the program ended with this status. */
static void judge(struct plan_row *row, const uint8_t *data, size_t size, int status)
{
    struct child c = {0};
    c.length = size < ANSWER_SIZE - 1 ? size : ANSWER_SIZE - 1;
    if (c.length)
        memcpy(c.answer, data, c.length);
    c.answer[c.length] = 0;
    answer_judge(row, &c, status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct plan_row row;
    static char stale[32];
    strcpy(stale, "before earlier=1");
    (void)strtok(stale, " "); /* what is left of it must not come back as a figure */
    memset(&row, 0, sizeof row);
    row.program = "filch-bench-x";
    judge(&row, data, size, 0);
    int samples = row.error[0] == 0;
    check_row(&row, samples);
    check_figures(&row, data, size);
    FUZZ_CHECK(!samples || row.samples[0] >= 0); /* false for what is not a number, too */
    if (samples)
        judge(&row, data, size, 0); /* the second sample is no better than the first */
    check_row(&row, 2 * samples);
    FUZZ_CHECK(row.best == 0);
    judge(&row, data, size, 3 << 8);
    FUZZ_CHECK(row.error[0]);
    check_row(&row, 2 * samples);
    return 0;
}
