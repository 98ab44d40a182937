/* What is printed: the table, its one sentence of advice, and lines that are too long. */
#define _GNU_SOURCE
#include "../forking.h"
#include "core/report.h"
#include "core/worker.h"
#include "os/context.h"

static struct ending printed(void (*body)(void))
{
    struct ending e = in_child(body);
    CHECK_MSG(WIFEXITED(e.status) && WEXITSTATUS(e.status) == 0, "ended with %#x: %s", e.status, e.text);
    return e;
}

/* ---- advice ---------------------------------------------------------------------------------- */

static const struct figures {
    uint64_t executed[2], stolen, overflow, suspended, attempts;
    const char *says;
} cases[] = {
    {{0, 0}, 0, 0, 0, 0, "Nothing ran"},
    {{50, 0}, 0, 0, 0, 0, "One worker did everything"},
    {{50, 50}, 10, 11, 0, 0, "Queues overflow often"},
    {{50, 50}, 10, 10, 0, 0, "Nothing stands out"}, /* one in ten is not often */
    {{5000, 5000}, 1001, 0, 501, 0, "Every other stolen job is waited for"},
    {{5000, 5000}, 1000, 0, 1000, 0, "Nothing stands out"}, /* too few to tell */
    {{50, 50}, 9, 0, 0, 10001, "Workers search a lot"},
    {{50, 50}, 9, 0, 0, 10000, "Nothing stands out"},
};
static const struct figures *now;

static void advice_body(void)
{
    filch_pool *pool = pool_of(2, FILCH_JOIN_SUSPEND); /* no thread of it runs yet */
    for (int i = 0; i < 2; i++)
        counters_add(&pool->workers[i].counters, EV_EXECUTED, now->executed[i]);
    counters_add(&pool->workers[0].counters, EV_STEAL_JOB, now->stolen);
    counters_add(&pool->workers[1].counters, EV_OVERFLOW, now->overflow);
    counters_add(&pool->workers[1].counters, EV_JOIN_SUSPEND, now->suspended);
    counters_add(&pool->workers[0].counters, EV_STEAL_TRY, now->attempts);
    filch_stats_print(pool);
    filch_pool_destroy(pool);
}

static void the_advice_is_the_first_thing_that_stands_out(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        now = &cases[i];
        struct ending e = printed(advice_body);
        CHECK_MSG(strstr(e.text, now->says), "case %zu: %s", i, e.text);
    }
}

/* ---- the table -------------------------------------------------------------------------------- */

static void many_body(void)
{
    int ends[2];
    char *text = calloc(1, 60000);
    CHECK(text && pipe(ends) == 0);
    CHECK(fcntl(ends[1], F_SETPIPE_SZ, 1 << 16) > 0);
    int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    filch_pool *pool = pool_of(70, FILCH_JOIN_SUSPEND);
    filch_stats_print(pool);
    dup2(before, STDERR_FILENO);
    CHECK(read(ends[0], text, 59999) > 0);
    CHECK(strstr(text, "70 workers\n") && strstr(text, "\n63 ") && !strstr(text, "\n64 "));
    CHECK(strstr(text, "\n... 6 more workers\nall "));
    filch_pool_destroy(pool);
    free(text);
}

static void of_many_workers_the_first_are_shown_and_the_rest_counted(void)
{
    printed(many_body);
}

static void wanted_body(void)
{
    setenv("FILCH_STATS", "1", 1);
    filch_config c = config_of(2, FILCH_JOIN_SUSPEND);
    filch_pool *pool;
    c.name = "counted";
    CHECK_EQ(filch_pool_create(&pool, &c), 0);
    filch_pool_destroy(pool);
}

static void not_wanted_body(void)
{
    setenv("FILCH_STATS", "0", 1);
    filch_pool_destroy(pool_of(2, FILCH_JOIN_SUSPEND));
}

static void a_pool_prints_its_figures_at_its_end_if_asked_to(void)
{
    CHECK(strstr(printed(wanted_body).text, "filch: pool \"counted\", 2 workers\n"));
    CHECK_STR(printed(not_wanted_body).text, "");
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void long_line_body(void)
{
    static char name[5000];
    memset(name, 'n', sizeof name - 1);
    report_warning("filch: %s", name);
    report_warning("filch: short");
}

static void a_line_that_is_too_long_is_cut_and_still_a_line(void)
{
    struct ending e = printed(long_line_body);
    CHECK_EQ(strcspn(e.text, "\n"), 510);
    CHECK_STR(e.text + 511, "filch: short\n");
}

static void returns(void *pass) { (void)pass; }

static void context_body(void)
{
    os_context home, other = {0};
    size_t size = (size_t)256 << 10;
    char *stack = malloc(size);
    CHECK(stack);
    os_context_thread(&home);
    os_context_make(&other, stack, size, returns);
    os_context_switch(&home, &other, NULL);
}

static void a_context_whose_entry_returns_is_reported(void)
{
    struct ending e = in_child(context_body);
    CHECK_STR(e.text, "filch: the entry function of a context returned\n");
    CHECK(aborted(&e));
}

int main(void)
{
    RUN(the_advice_is_the_first_thing_that_stands_out);
    RUN(of_many_workers_the_first_are_shown_and_the_rest_counted);
    RUN(a_pool_prints_its_figures_at_its_end_if_asked_to);
    RUN(a_line_that_is_too_long_is_cut_and_still_a_line);
    RUN(a_context_whose_entry_returns_is_reported);
    return check_report();
}
