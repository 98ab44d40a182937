/* misuse/graph.h: rows about filch/graph.h, filch/pipe.h, filch/sort.h, and the size of a pool. */
#include <filch/graph.h>
#include <filch/pipe.h>
#include <filch/sort.h>

/* ---- graphs --------------------------------------------------------------------------------- */

static filch_graph *graph;
static int node_fine(void *arg) { return (void)arg, 0; }
static void make_graph(void)
{
    CHECK_EQ(filch_graph_create(&graph), 0);
    CHECK_EQ(filch_graph_node(graph, "only", node_fine, 0), 0);
}
static void dead_graph(void) { make_graph(), filch_graph_destroy(graph); }
static filch_graph *no_graph(void)
{
    static _Alignas(64) uintptr_t words[64];
    return (filch_graph *)(void *)words;
}
static int write_nothing(const char *text, size_t length, void *arg)
{
    return (void)text, (void)length, (void)arg, 0;
}
static filch_graph_span span;

static void graph_create_null(void) { (void)filch_graph_create(0); }
static void graph_destroy_none(void) { filch_graph_destroy(no_graph()); }
static void graph_destroy_twice(void) { dead_graph(), filch_graph_destroy(graph); }
static void graph_node_null(void) { (void)filch_graph_node(0, 0, node_fine, 0); }
static void graph_node_dead(void) { dead_graph(), (void)filch_graph_node(graph, 0, node_fine, 0); }
static void graph_edge_null(void) { (void)filch_graph_edge(0, 0, 0); }
static void graph_edge_wrong(void) { make_graph(), (void)filch_graph_edge(graph, 0, 7); }
static void graph_edge_negative(void) { make_graph(), (void)filch_graph_edge(graph, -1, 0); }
static void graph_cost_wrong(void) { make_graph(), (void)filch_graph_cost(graph, 7, 1); }
static void graph_measured_null(void) { (void)filch_graph_measured(0, 1); }
static void graph_change_wrong(void) { make_graph(), (void)filch_graph_node_change(graph, 7, node_fine, 0); }
static void graph_remove_wrong(void) { make_graph(), (void)filch_graph_node_remove(graph, INT_MAX); }
static void graph_edge_remove_wrong(void) { make_graph(), (void)filch_graph_edge_remove(graph, 0, 7); }
static void graph_count_null(void) { (void)filch_graph_count(0); }
static void graph_name_wrong(void) { make_graph(), (void)filch_graph_name(graph, 7); }
static void graph_run_null(void) { (void)filch_graph_run(0); }
static void graph_run_with_null(void) { (void)filch_graph_run_with(0, 0); }
static void graph_cancel_null(void) { filch_graph_cancel(0); }
static void graph_check_null(void) { (void)filch_graph_check(0); }
static void graph_cycle_null(void) { (void)filch_graph_cycle(0, 0, 0); }
static void graph_cycle_no_text(void) { make_graph(), (void)filch_graph_cycle(graph, 0, 8); }
static void graph_failed_null(void) { (void)filch_graph_failed(0, 0); }
static void graph_span_wrong(void) { make_graph(), (void)filch_graph_span_of(graph, 7, &span); }
static void graph_dot_null(void) { make_graph(), (void)filch_graph_dot(graph, 0, 0); }
static void graph_dot_to_null(void) { make_graph(), (void)filch_graph_dot_to(graph, 0, 0, 0); }
static void graph_dot_to_none(void) { (void)filch_graph_dot_to(0, write_nothing, 0, 0); }

/* ---- pipelines ------------------------------------------------------------------------------ */

static int stage_none(void **it, void *arg) { return *it = 0, (void)arg, 0; }
static void run_stage(filch_stage stage) { (void)filch_pipe_run(&stage, 1, 0, 0); }
static void pipe_run_null(void) { (void)filch_pipe_run(0, 1, 0, 0); }
static void pipe_run_none(void) { (void)filch_pipe_run_with(0, 0, 0, 0, 0, 0, 0); }
static void pipe_stage_null(void) { run_stage((filch_stage){.kind = FILCH_STAGE_SERIAL}); }
static void pipe_stage_kind(void) { run_stage((filch_stage){.run = stage_none, .kind = 77}); }

/* ---- sorts ---------------------------------------------------------------------------------- */

static int order_none(const void *a, const void *b) { return (void)a, (void)b, 0; }
static int order_none_r(const void *a, const void *b, void *arg) { return (void)a, (void)b, (void)arg, 0; }
static uint64_t key_none(const void *element, void *arg) { return (void)element, (void)arg, 0; }
static void sort_null(void) { (void)filch_sort(0, 2, 4, order_none); }
static void sort_no_order(void) { (void)filch_sort(cells, 2, sizeof *cells, 0); }
static void sort_r_null(void) { (void)filch_sort_r(0, 2, 4, order_none_r, 0); }
static void sort_with_null(void) { (void)filch_sort_with(0, 0, 2, 4, order_none_r, 0); }
static void sort_stable_null(void) { (void)filch_sort_stable(0, 2, 4, order_none); }
static void sort_stable_r_null(void) { (void)filch_sort_stable_r(0, 2, 4, order_none_r, 0); }
static void sort_stable_with_null(void) { (void)filch_sort_stable_with(0, 0, 2, 4, order_none_r, 0); }
static void sort_plain_type(void) { (void)filch_sort_plain_with(0, cells, 2, (enum filch_plain)77); }
static void sort_by_key_null(void) { (void)filch_sort_by_key(cells, 2, sizeof *cells, 0, 0); }
static void sort_by_key_no_array(void) { (void)filch_sort_by_key(0, 2, 4, key_none, 0); }
static void sort_part_null(void) { (void)filch_sort_part(0, 2, 4, 1, order_none_r, 0); }
static void nth_null(void) { (void)filch_nth(cells, 2, sizeof *cells, 1, 0, 0); }
static void merge_null(void) { (void)filch_merge(0, cells, 1, cells, 1, sizeof *cells, order_none_r, 0); }
static void sort_answers(void)
{
    CHECK_EQ(filch_sort(cells, 2, 0, order_none), -EINVAL);
    CHECK_EQ(filch_sort(cells, SIZE_MAX, 8, order_none), -EINVAL);
    CHECK_EQ(filch_sort(0, 0, 4, order_none), 0);
    CHECK_EQ(filch_sort_i32(0, 0), 0);
    CHECK_EQ(filch_nth(cells, 2, sizeof *cells, 2, order_none_r, 0), 0);
    CHECK_EQ(filch_sort_part(cells, 2, sizeof *cells, SIZE_MAX, order_none_r, 0), 0);
}
#define SORT_NULL(name) static void sort_##name##_null(void) { (void)filch_sort_##name(0, 2); }
SORT_NULL(i8) SORT_NULL(u8) SORT_NULL(i16) SORT_NULL(u16) SORT_NULL(i32) SORT_NULL(u32) SORT_NULL(i64)
SORT_NULL(u64) SORT_NULL(f32) SORT_NULL(f64)
#define SORT_ROW(name) SAYS("filch_sort_" #name, sort_##name##_null, "null array")

/* ---- the size of a pool --------------------------------------------------------------------- */

static void resize_null(void) { (void)filch_pool_resize(0, 1); }
static void resize_none(void) { (void)filch_pool_resize(no_pool(), 1); }
static void resize_dead(void) { dead_pool(), (void)filch_pool_resize(pool, 1); }
static void size_none(void) { (void)filch_pool_size(no_pool()); }
static void scope_open_in_null(void) { filch_scope s; (void)filch_scope_open_in(&s, 0, 0); }
static void resize_answers(void)
{
    CHECK_EQ(filch_pool_resize(filch_pool_default(), 1), -EINVAL);
    CHECK_EQ(filch_pool_resize(filch_pool_default(), INT_MIN), -EINVAL);
    CHECK_EQ(filch_pool_size(0), 0);
}

#define ROWS_GRAPH                                                                                \
    SAYS("filch_graph_create", graph_create_null, "null"),                                        \
    SAYS("filch_graph_destroy", graph_destroy_none, "not a graph"),                               \
    DEAD("filch_graph_destroy", graph_destroy_twice),                                             \
    SAYS("filch_graph_node", graph_node_null, "not a graph"),                                     \
    DEAD("filch_graph_node", graph_node_dead),                                                    \
    SAYS("filch_graph_edge", graph_edge_null, "not a graph"),                                     \
    SAYS("filch_graph_edge", graph_edge_wrong, "not a node"),                                     \
    SAYS("filch_graph_edge", graph_edge_negative, "not a node"),                                  \
    SAYS("filch_graph_cost", graph_cost_wrong, "not a node"),                                     \
    SAYS("filch_graph_measured", graph_measured_null, "not a graph"),                             \
    SAYS("filch_graph_node_change", graph_change_wrong, "not a node"),                            \
    SAYS("filch_graph_node_remove", graph_remove_wrong, "not a node"),                            \
    SAYS("filch_graph_edge_remove", graph_edge_remove_wrong, "not a node"),                       \
    SAYS("filch_graph_count", graph_count_null, "not a graph"),                                   \
    SAYS("filch_graph_name", graph_name_wrong, "not a node"),                                     \
    SAYS("filch_graph_run", graph_run_null, "not a graph"),                                       \
    SAYS_AS("filch_graph_run_with", "filch_graph_run", graph_run_with_null, "not a graph"),       \
    SAYS("filch_graph_cancel", graph_cancel_null, "not a graph"),                                 \
    SAYS("filch_graph_check", graph_check_null, "not a graph"),                                   \
    SAYS("filch_graph_cycle", graph_cycle_null, "not a graph"),                                   \
    SAYS("filch_graph_cycle", graph_cycle_no_text, "null text"),                                  \
    SAYS("filch_graph_failed", graph_failed_null, "not a graph"),                                 \
    SAYS("filch_graph_span_of", graph_span_wrong, "not a node"),                                  \
    SAYS("filch_graph_dot", graph_dot_null, "null file"),                                         \
    SAYS("filch_graph_dot_to", graph_dot_to_null, "null function"),                               \
    SAYS_AS("filch_graph_dot_to", "filch_graph_dot", graph_dot_to_none, "not a graph"),           \
    SAYS("filch_pipe_run", pipe_run_null, "no stages"),                                               \
    SAYS("filch_pipe_run_with", pipe_run_none, "no stages"),                                          \
    SAYS("filch_pipe_run", pipe_stage_null, "without a function"),                                \
    SAYS("filch_pipe_run", pipe_stage_kind, "no known kind"),                                     \
    SAYS("filch_sort", sort_null, "null array"),                                                  \
    SAYS("filch_sort", sort_no_order, "null function"),                                           \
    SAYS("filch_sort_r", sort_r_null, "null array"),                                              \
    SAYS("filch_sort_with", sort_with_null, "null array"),                                        \
    SAYS("filch_sort_stable", sort_stable_null, "null array"),                                    \
    SAYS("filch_sort_stable_r", sort_stable_r_null, "null array"),                                \
    SAYS("filch_sort_stable_with", sort_stable_with_null, "null array"),                          \
    SAYS("filch_sort_plain_with", sort_plain_type, "enum filch_plain"),                           \
    SAYS("filch_sort_by_key", sort_by_key_null, "null function"),                                 \
    SAYS("filch_sort_by_key", sort_by_key_no_array, "null array"),                                \
    SAYS("filch_sort_part", sort_part_null, "null array"),                                        \
    SAYS("filch_nth", nth_null, "null function"),                                                 \
    SAYS("filch_merge", merge_null, "null array"),                                                \
    ANSWERS("filch_sort filch_sort_i32 filch_nth filch_sort_part", sort_answers),                 \
    SORT_ROW(i8), SORT_ROW(u8), SORT_ROW(i16), SORT_ROW(u16), SORT_ROW(i32), SORT_ROW(u32),       \
    SORT_ROW(i64), SORT_ROW(u64), SORT_ROW(f32), SORT_ROW(f64),                                   \
    SAYS("filch_pool_resize", resize_null, "pool"),                                               \
    SAYS("filch_pool_resize", resize_none, "not a pool"),                                         \
    DEAD("filch_pool_resize", resize_dead),                                                       \
    SAYS("filch_pool_size", size_none, "not a pool"),                                             \
    SAYS("filch_scope_open_in", scope_open_in_null, "not an open scope"),                         \
    ANSWERS("filch_pool_resize filch_pool_size", resize_answers),
