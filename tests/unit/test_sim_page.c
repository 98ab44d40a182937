/* The run view: what the page is told about a run. */
#include "sim_page.h"
#include "../check.h"

static char *printed;

static const char *page_of(const struct page_run *run)
{
    size_t size;
    free(printed);
    FILE *f = open_memstream(&printed, &size);
    sim_page_run(f, run, 1); /* without style and script */
    fclose(f);
    return printed;
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* The list of that name in the page, its line ends as blanks. */
static const char *list(const char *page, const char *name)
{
    static char text[2000];
    const char *at = strstr(page, name);
    CHECK_MSG(at, "no %s", name);
    at = strchr(at, '[') + 1;
    size_t n = strcspn(at, "]");
    CHECK(n < sizeof text);
    for (size_t i = 0; i < n; i++)
        text[i] = (char)(at[i] == '\n' ? ' ' : at[i]);
    text[n] = 0;
    return text;
}

static const char *const names[] = {"T1", "T2", "T1.0"};

static struct page_run run_of(const struct page_record *record, size_t n)
{
    return (struct page_run){.title = "run", .workers = 2, .n = n, .record = record, .tasks = 3,
                             .task_name = names};
}

static void spans_follow_the_records(void)
{
    const struct page_record r[] = {
        {0, PAGE_SUBMITTED, 0, -1, 0, 1}, {0, PAGE_SUBMITTED, 0, -1, 1, 2}, {0, PAGE_EXECUTING, 0, -1, 1, 1},
        {5, PAGE_STOLE, 1, 0, 0, 1}, {5, PAGE_EXECUTING, 1, -1, 0, 0}, {8, PAGE_SPAWNED, 1, 0, 2, 1},
        {9, PAGE_WAITS, 1, -1, 0, 1}, {9, PAGE_EXECUTING, 1, -1, 2, 0}, {12, PAGE_COMPLETED, 1, -1, 2, 0},
        {12, PAGE_RESUMED, 1, -1, 0, 0}, {15, PAGE_COMPLETED, 1, -1, 0, 0}, {15, PAGE_FAILED, 1, 0, 0, 0},
        {16, PAGE_PARKED, 1, -1, 0, 0}, {18, PAGE_WOKEN, 1, -1, 0, 0}, {20, PAGE_COMPLETED, 0, -1, 1, 0}};
    struct page_run run = run_of(r, sizeof r / sizeof *r);
    CHECK_STR(list(page_of(&run), "\"spans\""),
              "1,5,9,1,\"T1\", 1,9,12,0,\"T1.0\", 1,12,15,1,\"T1\", 1,16,18,2,\"\", 0,0,20,0,\"T2\"");
    CHECK_STR(list(printed, "\"names\""), "\"T1\",\"T2\",\"T1.0\"");
}

static void a_wait_has_a_span_until_the_task_goes_on(void)
{
    const struct page_record r[] = {{0, PAGE_EXECUTING, 0, -1, 0, 0}, {2, PAGE_WAITS, 0, -1, 0, 0},
                                    {6, PAGE_RESUMED, 0, -1, 0, 0}, {7, PAGE_COMPLETED, 0, -1, 0, 0}};
    struct page_run run = run_of(r, 4);
    CHECK_STR(list(page_of(&run), "\"spans\""), "0,0,2,0,\"T1\", 0,2,6,3,\"T1\", 0,6,7,0,\"T1\"");
}

static void a_task_that_runs_at_the_end_has_a_span(void)
{
    const struct page_record r[] = {{0, PAGE_EXECUTING, 0, -1, 0, 0}, {7, PAGE_FAILED, 1, -1, 0, 0}};
    struct page_run run = run_of(r, 2);
    CHECK_STR(list(page_of(&run), "\"spans\""), "0,0,7,0,\"T1\"");
}

static void records_that_name_nothing_are_left_out(void)
{
    const char *const line[] = {"a", "b", "c", "d", "e", "f", "g"};
    const struct page_record r[] = {
        {0, PAGE_EXECUTING, 2, -1, 0, 0}, {1, PAGE_EXECUTING, -1, -1, 0, 0}, {2, PAGE_EXECUTING, 0, -1, 3, 0},
        {3, PAGE_KINDS, 0, -1, 0, 0}, {4, PAGE_STOLE, 0, 2, 0, 0}, {5, PAGE_STOLE, 0, -1, 0, 0},
        {6, PAGE_FAILED, 1, -1, 4000000000u, 0}};
    struct page_run run = run_of(r, 7);
    run.line = line;
    CHECK_STR(list(page_of(&run), "\"records\""), "6,7,1,-1,0");
    CHECK_STR(list(page_of(&run), "\"lines\""), "\"g\"");
    CHECK_STR(list(page_of(&run), "\"spans\""), "");
}

static void no_text_ends_the_script(void)
{
    const char *const bad = "</script><!--\"\\\n\x01\xff";
    const char *const bad_names[] = {bad, bad, bad}, *const line[] = {bad};
    const struct page_record r[] = {{0, PAGE_EXECUTING, 0, -1, 0, 0}};
    struct page_run run = run_of(r, 1);
    run.title = bad;
    run.task_name = bad_names;
    run.line = line;
    const char *page = page_of(&run);
    CHECK_EQ(count(page, "</script>"), 1);
    CHECK_EQ(count(page, "<!--"), 0);
    CHECK_STR(list(page, "\"lines\""),
              "\"\\u003c/script\\u003e\\u003c!--\\\"\\\\ \xef\xbf\xbd\xef\xbf\xbd\"");
}

static void a_run_too_large_for_steps_is_a_chart_and_the_end_of_its_log(void)
{
    static struct page_record r[PAGE_RECORDS + 1];
    static const char *line[PAGE_RECORDS + 1];
    for (int i = 0; i <= PAGE_RECORDS; i++) {
        r[i] = (struct page_record){i * 1000, i % 2 ? PAGE_COMPLETED : PAGE_EXECUTING, 0, -1, 0, 0};
        line[i] = i == 0 ? "first <line>" : i == PAGE_RECORDS ? "last <line>" : "line";
    }
    struct page_run run = run_of(r, PAGE_RECORDS);
    CHECK(strstr(page_of(&run), "application/json"));
    run.n++;
    run.line = line;
    CHECK(!strstr(page_of(&run), "application/json"));
    CHECK(strstr(printed, "20001 records") && strstr(printed, "<svg") && strstr(printed, "time (ms)"));
    CHECK(strstr(printed, "last &lt;line&gt;") && !strstr(printed, "first"));
    run.n = 10;
    run.workers = PAGE_WORKERS;
    CHECK(strstr(page_of(&run), "application/json"));
    run.workers++;
    CHECK(!strstr(page_of(&run), "application/json"));
    CHECK(strstr(printed, "17 workers"));
}

static void a_run_of_nothing_is_shown(void)
{
    struct page_run run = run_of(NULL, 0);
    CHECK_STR(list(page_of(&run), "\"records\""), "");
    run.workers = 0;
    CHECK(strstr(page_of(&run), "nothing to show"));
}

/* Of style and script: there is nothing in them that a browser would fetch. */
static void the_first_view_brings_style_and_script(void)
{
    struct page_run run = run_of(NULL, 0);
    size_t size;
    free(printed);
    FILE *f = open_memstream(&printed, &size);
    sim_page_run(f, &run, 0);
    fclose(f);
    CHECK_EQ(count(printed, "</script>"), 2);
    CHECK_EQ(count(printed, "</style>"), 1);
    CHECK(strstr(printed, "simReplay") && strstr(printed, "SimGantt"));
    CHECK(strstr(printed, "prefers-reduced-motion"));
    CHECK(!strstr(printed, "https:") && !strstr(printed, "url(") && !strstr(printed, "import"));
    CHECK_EQ(count(printed, "http:"), 1); /* the name of SVG */
    CHECK(!strstr(printed, "innerHTML") && !strstr(printed, "eval("));
}

int main(void)
{
    RUN(spans_follow_the_records);
    RUN(a_wait_has_a_span_until_the_task_goes_on);
    RUN(a_task_that_runs_at_the_end_has_a_span);
    RUN(records_that_name_nothing_are_left_out);
    RUN(no_text_ends_the_script);
    RUN(a_run_too_large_for_steps_is_a_chart_and_the_end_of_its_log);
    RUN(a_run_of_nothing_is_shown);
    RUN(the_first_view_brings_style_and_script);
    free(printed);
    return check_report();
}
