/* Charts of the command: what is printed is well formed, whatever goes in. */
#include "plot.h"
#include "markup.h"
#include "plot_text.h"
#include <math.h>

static char *printed;
static size_t printed_size;

static FILE *begin(void)
{
    free(printed);
    printed = NULL;
    return open_memstream(&printed, &printed_size);
}

static const char *svg_of(const struct plot *p)
{
    FILE *f = begin();
    plot_svg(f, p);
    fclose(f);
    return printed;
}

static const char *term_of(const struct plot *p, int columns, int unicode)
{
    FILE *f = begin();
    setenv("LC_ALL", unicode ? "C.UTF-8" : "C", 1);
    plot_term(f, p, columns);
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

static void lines_fit(const char *text, int columns)
{
    while (*text) {
        char line[4096];
        size_t n = strcspn(text, "\n");
        CHECK(n < sizeof line);
        memcpy(line, text, n);
        line[n] = 0;
        CHECK_MSG(plot_text_columns(line) <= columns, "more than %d columns: %s", columns, line);
        CHECK_MSG(!n || line[n - 1] != ' ', "blanks at the end: %s|", line);
        text += n + (text[n] == '\n');
    }
}

/* Every output of a chart is checked. No number of a picture is without value. */
static void all_is_well(const struct plot *p)
{
    static const int columns[] = {30, 31, 47, 80, 200};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (int unicode = 0; unicode < 2; unicode++)
            lines_fit(term_of(p, columns[i], unicode), columns[i]);
    const char *svg = svg_of(p);
    markup_check(svg);
    CHECK(!strstr(svg, "nan") && !strstr(svg, "inf") && !strstr(svg, "\"99999"));
    FILE *f = begin();
    plot_page_plot(f, p);
    fclose(f);
    markup_check(printed);
}

static struct plot lines(const struct plot_series *series, size_t n)
{
    return (struct plot){.kind = PLOT_LINES, .title = "T", .x_label = "x", .y_label = "y", .n_series = n,
                         .series = series};
}

static void is_drawn(const char *text, const char *wanted)
{
    if (strcmp(text, wanted) != 0)
        fprintf(stderr, "%s", text); /* longer than a message of a CHECK */
    CHECK(strcmp(text, wanted) == 0);
}

static const double four[] = {1, 2, 4, 8};

static void a_line_is_drawn(void)
{
    const double y[] = {0, 1, 2, 3};
    struct plot_series s = {.name = "s", .n = 4, .y = y};
    struct plot p = lines(&s, 1);
    is_drawn(term_of(&p, 30, 0),
        "T\n"
        "y\n"
        "4+\n"
        " |\n"
        " |                         ..*\n"
        " |                     ....\n"
        "2+              ....*..\n"
        " |       ..*....\n"
        " |   ....\n"
        "0+*..\n"
        " ++--------+--------+--------+\n"
        "  0        1        2        3\n"
        "               x\n"
        "* s\n");
    is_drawn(term_of(&p, 30, 1),
        "T\n"
        "y\n"
        "4┤\n"
        " │\n"
        " │                        ⣀⠤⠒●\n"
        " │                   ⢀⡠⠔⠊⠉\n"
        "2┤              ⣀⡠⠔⠒●⠁\n"
        " │        ⢀●⠤⠔⠊⠉\n"
        " │    ⣀⡠⠔⠊⠁\n"
        "0┤●⠤⠒⠉\n"
        " └┬────────┬────────┬────────┬\n"
        "  0        1        2        3\n"
        "               x\n"
        "● s\n");
}

static void a_chart_of_bars_is_drawn_in_eighths(void)
{
    const double y[] = {4, 1, 2.5};
    const char *const category[] = {"a", "bb", "c"};
    struct plot_series s = {.n = 3, .y = y};
    struct plot p = {.kind = PLOT_BARS, .n_series = 1, .series = &s, .n_categories = 3, .category = category};
    is_drawn(term_of(&p, 30, 1),
        " a │██████████████████████ 4\n"
        "bb │█████▌                 1\n"
        " c │█████████████▊         2.5\n"
        "   └┬──────────┬─────────┬\n"
        "    0          2         4\n");
}

static void a_gantt_chart_shows_labels_and_what_takes_most_of_a_cell(void)
{
    const char *const row[] = {"W0", "W1"}, *const colour[] = {"runs", "waits"};
    const struct plot_span span[] = {
        {0, 0, 5, 0, "T1"}, {0, 5, 10, 1, NULL}, {1, 2, 2.1, 0, NULL}, {1, 6, 9, 0, NULL}};
    struct plot p = {.kind = PLOT_GANTT, .n_rows = 2, .row = row, .n_spans = 4, .span = span, .n_colours = 2,
                     .colour = colour};
    is_drawn(term_of(&p, 30, 0),
        "W0 |#T1##########=============\n"
        "W1 |     #         #########\n"
        "   ++------------+-----------+\n"
        "    0            5          10\n"
        "# runs\n"
        "= waits\n");
}

static void text_is_escaped(void)
{
    const char *const bad = "<script>alert(\"&'\")</script>\x01\x1b[31m\xff\xc3 \xed\xa0\x80 "
                            "\xe2\x80\xae\xef\xbf\xbe";
    const char *const names[] = {bad, bad, bad};
    const struct plot_mark marks[] = {{0, 2, bad}, {1, 3, bad}};
    const struct plot_span spans[] = {{0, 1, 100, 0, bad}, {1, 1, 2, 3, bad}};
    struct plot_series s = {.name = bad, .n = 3, .x = four, .y = four};
    for (int kind = PLOT_LINES; kind <= PLOT_GANTT; kind++) {
        struct plot p = {.kind = (enum plot_kind)kind, .title = bad, .x_label = bad, .y_label = bad,
                         .note = bad, .n_series = 1, .series = &s, .n_categories = 3, .category = names,
                         .n_rows = 3, .row = names, .n_spans = 2, .span = spans, .n_colours = 3,
                         .colour = names, .n_marks = 2, .mark = marks};
        all_is_well(&p);
        CHECK(!strstr(svg_of(&p), "<script"));
        CHECK(!strstr(term_of(&p, 80, 1), "\x1b"));
    }
}

static void values_that_are_none_are_left_out(void)
{
    const double y[] = {NAN, 1, INFINITY, 2, -INFINITY, 3, 1e308}, x[] = {0, 1, 2, 3, 4, 5, 6};
    const double low[] = {0, NAN, 0, 1, 0, -INFINITY, 0}, high[] = {0, 1, 0, 3, 0, INFINITY, 0};
    struct plot_series s = {.name = "s", .n = 7, .x = x, .y = y, .low = low, .high = high};
    struct plot p = lines(&s, 1);
    const struct plot_mark marks[] = {{0, NAN, "m"}, {1, INFINITY, "n"}};
    p.n_marks = 2;
    p.mark = marks;
    all_is_well(&p);
    CHECK_EQ(count(svg_of(&p), "<title>s, "), 3); /* a tip for each point that is drawn */
}

static void a_line_breaks_where_a_value_is_missing(void)
{
    const double y[] = {1, 2, NAN, 3, 4};
    struct plot_series s = {.n = 5, .y = y};
    struct plot p = lines(&s, 1);
    const char *path = strstr(svg_of(&p), "p-l\" d=\"");
    CHECK(path);
    char d[200];
    snprintf(d, sizeof d, "%.*s", (int)strcspn(path + 8, "\""), path + 8);
    CHECK_EQ(count(d, "M"), 2);
    CHECK_EQ(count(d, "L"), 2);
}

static void nothing_at_all_is_an_empty_chart(void)
{
    struct plot_series s = {.name = "s"};
    for (int kind = PLOT_LINES; kind <= PLOT_GANTT; kind++)
        for (int base = 0; base <= 10; base += base ? 8 : 2) {
            struct plot p = {.kind = (enum plot_kind)kind, .log_x = base, .log_y = base, .n_series = 1,
                             .series = &s};
            all_is_well(&p);
            p.n_series = 0;
            all_is_well(&p);
        }
}

static void one_point_is_drawn(void)
{
    static const double values[] = {0, 1, -1, 1e-300, 1e300, -1e300, 123456789.125, 1e-5};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int base = 0; base <= 10; base += base ? 8 : 2) {
            struct plot_series s = {.name = "s", .n = 1, .x = &values[i], .y = &values[i]};
            struct plot p = lines(&s, 1);
            p.log_x = p.log_y = base;
            all_is_well(&p);
            CHECK_EQ(count(svg_of(&p), "<title>s, "), !base || values[i] > 0);
        }
}

static void huge_and_tiny_values_find_a_scale(void)
{
    static const double ends[][2] = {{-1e300, 1e300}, {1e-300, 1e300}, {1e300, 1e300 * (1 + 1e-12)},
                                     {1e-300, 2e-300}, {1e15, 1e15 + 1}, {-5, 1e-290}, {3, 4}, {0.7, 1.3e9}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int base = 0; base <= 10; base += base ? 8 : 2) {
            struct plot_series s = {.name = "s", .n = 2, .x = ends[i], .y = ends[i], .dashed = 1};
            struct plot p = lines(&s, 1);
            p.log_x = p.log_y = base;
            all_is_well(&p);
            p.log_x = 0;
            all_is_well(&p);
            p.kind = PLOT_BARS;
            p.n_categories = 2;
            p.category = (const char *const[]){"a", "b"};
            all_is_well(&p);
        }
}

static void negative_values_have_no_place_on_a_logarithmic_axis(void)
{
    const double y[] = {-1, 0, 1, 10}, low[] = {-2, -1, -5, 9}, high[] = {1, 1, 2, 11};
    struct plot_series s = {.name = "s", .n = 4, .x = four, .y = y, .low = low, .high = high};
    struct plot p = lines(&s, 1);
    p.log_y = 10;
    all_is_well(&p);
    CHECK_EQ(count(svg_of(&p), "<title>s, "), 2);
    CHECK_EQ(count(svg_of(&p), "(9 to 11)"), 1);
}

static void spans_may_be_anywhere(void)
{
    const char *const row[] = {"W0"};
    const struct plot_span span[] = {
        {0, 5, 3, 0, "back"}, {-1, 0, 1, 0, "x"}, {7, 0, 1, 0, "x"}, {0, NAN, 1, 0, "x"},
        {0, 1, INFINITY, 0, NULL}, {0, 2, 2, -1, "none"}, {0, 1, 2, 1000, NULL}};
    struct plot p = {.kind = PLOT_GANTT, .n_rows = 1, .row = row, .n_spans = 7, .span = span};
    all_is_well(&p);
}

static void spans_too_small_to_see_do_not_fill_the_file(void)
{
    enum { SPANS = 100000 };
    static struct plot_span span[SPANS];
    const char *const row[] = {"W0"};
    for (int i = 0; i < SPANS; i++)
        span[i] = (struct plot_span){0, i, i + 0.9, 0, NULL};
    struct plot p = {.kind = PLOT_GANTT, .n_rows = 1, .row = row, .n_spans = SPANS, .span = span};
    CHECK(count(svg_of(&p), "<rect") < 4000);
}

static void all_shapes_and_colours_are_drawn(void)
{
    struct plot_series s[20];
    for (int i = 0; i < 20; i++)
        s[i] = (struct plot_series){.name = "a name of a series", .n = 4, .x = four, .y = four, .low = four,
                                    .high = four, .dashed = i % 2, .points_only = i % 3 == 0};
    struct plot p = lines(s, 20);
    all_is_well(&p);
    p.kind = PLOT_BARS;
    p.n_categories = 4;
    p.category = (const char *const[]){"one", "two", "a category with a name too long for small screens", ""};
    all_is_well(&p);
}

static void a_page_asks_nothing_of_the_network(void)
{
    FILE *f = begin();
    plot_page_begin(f, "<T>", "sub & title");
    plot_page_heading(f, "<h>");
    plot_page_text(f, "a < b");
    plot_page_table(f, NULL, (const char *const[]){"name", "value"}, 2,
                    (const char *const[]){"<a>", "1.5", "b", "-3 %", "c", ""}, 3);
    plot_page_parameters(f, "All & more", (const char *const[]){"seed"}, (const char *const[]){"<1>"}, 1);
    plot_page_end(f);
    fclose(f);
    CHECK(strstr(printed, "default-src 'none'"));
    CHECK(strstr(printed, "<link rel=\"icon\" href=\"data:,\">"));
    CHECK(!strstr(printed, "http:") && !strstr(printed, "https:") && !strstr(printed, "url("));
    CHECK(strstr(printed, "<td class=\"n\">-3 %</td>") && strstr(printed, "<td>&lt;a&gt;</td>"));
    CHECK(strstr(printed, "<th class=\"n\">value</th>") && strstr(printed, "<th>name</th>"));
    CHECK(strstr(printed, "<dd>&lt;1&gt;</dd>"));
    char *end = strstr(printed, "</body>");
    CHECK(end && strstr(printed, "<main>"));
    *end = 0;
    markup_check(strstr(printed, "<main>"));
}

int main(void)
{
    RUN(a_line_is_drawn);
    RUN(a_chart_of_bars_is_drawn_in_eighths);
    RUN(a_gantt_chart_shows_labels_and_what_takes_most_of_a_cell);
    RUN(text_is_escaped);
    RUN(values_that_are_none_are_left_out);
    RUN(a_line_breaks_where_a_value_is_missing);
    RUN(nothing_at_all_is_an_empty_chart);
    RUN(one_point_is_drawn);
    RUN(huge_and_tiny_values_find_a_scale);
    RUN(negative_values_have_no_place_on_a_logarithmic_axis);
    RUN(spans_may_be_anywhere);
    RUN(spans_too_small_to_see_do_not_fill_the_file);
    RUN(all_shapes_and_colours_are_drawn);
    RUN(a_page_asks_nothing_of_the_network);
    free(printed);
    return check_report();
}
