/* misuse/par.h: rows about loops, arrays and the storage of each worker (filch/par.h). */
#include <filch/par.h>

static int cells[8];
static filch_how how = FILCH_HOW_INIT;
static void range_nothing(size_t lo, size_t hi, void *arg) { (void)lo, (void)hi, (void)arg; }
static int range_fine(size_t lo, size_t hi, void *arg) { return (void)lo, (void)hi, (void)arg, 0; }
static void each_nothing(void *element, void *arg) { (void)element, (void)arg; }
static int each_fine(void *element, void *arg) { return (void)element, (void)arg, 0; }
static void zip_nothing(void *a, void *b, void *arg) { (void)a, (void)b, (void)arg; }
static void chunk_nothing(void *first, size_t count, size_t index, void *arg)
{
    (void)first, (void)count, (void)index, (void)arg;
}
static void block_nothing(const filch_block *block, void *arg) { (void)block, (void)arg; }
static int block_fine(const filch_block *block, void *arg) { return (void)block, (void)arg, 0; }
static void map_nothing(void *to, const void *from, void *arg) { (void)to, (void)from, (void)arg; }
static int keep_none(const void *element, void *arg) { return (void)element, (void)arg, 0; }

static void for_null(void) { (void)filch_for(0, 1, 0, 0); }
static void for_backwards(void) { (void)filch_for(2, 1, range_nothing, 0); }
static void for_with_null(void) { (void)filch_for_with(0, 0, 1, 0, 0); }
static void for_with_backwards(void) { (void)filch_for_with(0, SIZE_MAX, 0, range_fine, 0); }
static void for_with(void) { (void)filch_for_with(&how, 0, 1, range_fine, 0); }
static void for_with_size_0(void) { how.size = 0, for_with(); }
static void for_with_size_huge(void) { how.size = SIZE_MAX, for_with(); }
static void for_with_workers(void) { how.workers = -1, for_with(); }
static void for_with_grain(void) { how.grain = SIZE_MAX, for_with(); }
static void for_with_none(void) { how.pool = no_pool(), for_with(); }
static void for_with_dead(void) { dead_pool(), how.pool = pool, for_with(); }
static void for_with_shut(void) { shut_pool(), how.pool = pool, for_with(); }
static void for_with_scope(void) { how.scope = &scope, for_with(); } /* never opened */
static void for_each_null_body(void) { (void)filch_for_each(cells, 8, 4, 0, 0); }
static void for_each_null(void) { (void)filch_for_each(0, 8, 4, each_nothing, 0); }
static void for_each_size(void) { (void)filch_for_each(cells, 8, 0, each_nothing, 0); }
static void for_each_huge(void) { (void)filch_for_each(cells, SIZE_MAX / 4, 8, each_nothing, 0); }
static void for_each_with_null(void) { (void)filch_for_each_with(0, cells, 8, 4, 0, 0); }
static void for_each_with_size(void) { (void)filch_for_each_with(0, cells, 8, 0, each_fine, 0); }
static void for_zip_null(void) { (void)filch_for_zip(cells, 4, cells, 4, 1, 0, 0); }
static void for_zip_null_b(void) { (void)filch_for_zip(cells, 4, 0, 4, 1, zip_nothing, 0); }
static void for_chunks_null(void) { (void)filch_for_chunks(cells, 8, 4, 2, 0, 0); }
static void for_chunks_0(void) { (void)filch_for_chunks(cells, 8, 4, 0, chunk_nothing, 0); }
static void for_2d_null(void) { (void)filch_for_2d(1, 1, 0, 0); }
static void for_2d_huge(void) { (void)filch_for_2d(SIZE_MAX, SIZE_MAX, block_nothing, 0); }
static void for_2d_with_null(void) { (void)filch_for_2d_with(0, (filch_block){0, 1, 0, 1}, 0, 0); }
static void for_2d_with_backwards(void)
{
    (void)filch_for_2d_with(0, (filch_block){0, 1, 1, 0}, block_fine, 0);
}
static void for_answers(void)
{
    CHECK_EQ(filch_for(5, 5, range_nothing, 0), 0);
    CHECK_EQ(filch_for_each(0, 0, 0, each_nothing, 0), 0);
    CHECK_EQ(filch_for_zip(0, 0, 0, 0, 0, zip_nothing, 0), 0);
    CHECK_EQ(filch_for_chunks(0, 0, 0, 1, chunk_nothing, 0), 0);
    CHECK_EQ(filch_for_2d(0, SIZE_MAX, block_nothing, 0), 0);
}

static void map_null(void) { (void)filch_map(cells, 4, cells, 4, 8, 0, 0); }
static void map_null_to(void) { (void)filch_map(0, 4, cells, 4, 8, map_nothing, 0); }
static void map_null_from(void) { (void)filch_map(cells, 4, 0, 4, 8, map_nothing, 0); }
static void fill_null(void) { (void)filch_fill(0, 8, 4, cells); }
static void fill_null_value(void) { (void)filch_fill(cells, 8, 4, 0); }
static void copy_null(void) { (void)filch_copy(cells, 0, 8, 4); }
static void copy_huge(void) { (void)filch_copy(cells, cells, SIZE_MAX, 2); }
static void reverse_null(void) { (void)filch_reverse(0, 8, 4); }
static void reverse_size(void) { (void)filch_reverse(cells, 8, 0); }
static void pack_null(void) { (void)filch_pack(cells, cells, 8, 4, 0, 0, 0); }
static void pack_null_to(void) { (void)filch_pack(0, cells, 8, 4, keep_none, 0, 0); }
static void partition_null(void) { (void)filch_partition(cells, 8, 4, 0, 0, 0); }
static void partition_null_base(void) { (void)filch_partition(0, 8, 4, keep_none, 0, 0); }
static void array_answers_none(void)
{
    CHECK_EQ(filch_map(0, 0, 0, 0, 0, map_nothing, 0), 0);
    CHECK_EQ(filch_fill(0, 0, 0, cells), 0);
    CHECK_EQ(filch_copy(0, 0, 0, 0), 0);
    CHECK_EQ(filch_reverse(0, 0, 0), 0);
    CHECK_EQ(filch_pack(0, 0, 0, 0, keep_none, 0, 0), 0);
    CHECK_EQ(filch_partition(0, 0, 0, keep_none, 0, 0), 0);
}

static filch_per_worker *per_worker;
static void make_per_worker(void) { CHECK_EQ(filch_per_worker_create(&per_worker, 0, 8, 0, 0, 0), 0); }
static void per_worker_null(void) { (void)filch_per_worker_create(0, 0, 8, 0, 0, 0); }
static void per_worker_size(void) { (void)filch_per_worker_create(&per_worker, 0, 0, 0, 0, 0); }
static void per_worker_none(void) { (void)filch_per_worker_create(&per_worker, no_pool(), 8, 0, 0, 0); }
static void per_worker_get_null(void) { (void)filch_per_worker_get(0); }
static void per_worker_each_null(void) { filch_per_worker_each(0, each_nothing, 0); }
static void per_worker_each_null_fn(void) { make_per_worker(), filch_per_worker_each(per_worker, 0, 0); }
static void per_worker_destroy_null(void) { filch_per_worker_destroy(0); }
static void dead_per_worker(void) { make_per_worker(), filch_per_worker_destroy(per_worker); }
static void per_worker_get_dead(void) { dead_per_worker(), (void)filch_per_worker_get(per_worker); }
static void per_worker_destroy_twice(void) { dead_per_worker(), filch_per_worker_destroy(per_worker); }

#define ROWS_PAR                                                                                  \
    SAYS("filch_for", for_null, "null"),                                                          \
    SAYS("filch_for", for_backwards, "ends before it begins"),                                    \
    SAYS("filch_for_with", for_with_null, "null"),                                                \
    SAYS("filch_for_with", for_with_backwards, "ends before it begins"),                          \
    SAYS("filch_for_with", for_with_size_0, "FILCH_HOW_INIT"),                                    \
    SAYS("filch_for_with", for_with_size_huge, "FILCH_HOW_INIT"),                                 \
    SAYS("filch_for_with", for_with_workers, "FILCH_HOW_INIT"),                                   \
    SAYS("filch_for_with", for_with_grain, "FILCH_HOW_INIT"),                                     \
    SAYS("filch_for_with", for_with_none, "not a pool"),                                          \
    DEAD("filch_for_with", for_with_dead),                                                        \
    SAYS_AS("filch_for_with", "FILCH_RUN", for_with_shut, "shut down"),                           \
    SAYS_AS("filch_for_with", "filch_scope_canceled", for_with_scope, "not an open scope"),       \
    SAYS("filch_for_each", for_each_null_body, "null"),                                           \
    SAYS("filch_for_each", for_each_null, "null array"),                                          \
    SAYS("filch_for_each", for_each_size, "size 0"),                                              \
    SAYS("filch_for_each", for_each_huge, "more than there can be"),                              \
    SAYS("filch_for_each_with", for_each_with_null, "null"),                                      \
    SAYS("filch_for_each_with", for_each_with_size, "size 0"),                                    \
    SAYS("filch_for_zip", for_zip_null, "null"),                                                  \
    SAYS("filch_for_zip", for_zip_null_b, "null array"),                                          \
    SAYS("filch_for_chunks", for_chunks_null, "null"),                                            \
    SAYS("filch_for_chunks", for_chunks_0, "chunks"),                                             \
    SAYS("filch_for_2d", for_2d_null, "null"),                                                    \
    SAYS("filch_for_2d", for_2d_huge, "more elements"),                                           \
    SAYS("filch_for_2d_with", for_2d_with_null, "null"),                                          \
    SAYS("filch_for_2d_with", for_2d_with_backwards, "ends before it begins"),                    \
    ANSWERS("filch_for filch_for_each filch_for_zip filch_for_chunks filch_for_2d", for_answers), \
    SAYS("filch_map", map_null, "null"),                                                          \
    SAYS("filch_map", map_null_to, "null array"),                                                 \
    SAYS("filch_map", map_null_from, "null array"),                                               \
    SAYS("filch_fill", fill_null, "null array"),                                                  \
    SAYS("filch_fill", fill_null_value, "null value"),                                            \
    SAYS("filch_copy", copy_null, "null array"),                                                  \
    SAYS("filch_copy", copy_huge, "more than there can be"),                                      \
    SAYS("filch_reverse", reverse_null, "null array"),                                            \
    SAYS("filch_reverse", reverse_size, "size 0"),                                                \
    SAYS("filch_pack", pack_null, "null"),                                                        \
    SAYS("filch_pack", pack_null_to, "null array"),                                               \
    SAYS("filch_partition", partition_null, "null"),                                              \
    SAYS("filch_partition", partition_null_base, "null array"),                                   \
    ANSWERS("filch_map filch_fill filch_copy filch_reverse filch_pack filch_partition",           \
            array_answers_none),                                                                  \
    SAYS("filch_per_worker_create", per_worker_null, "nowhere"),                                  \
    SAYS("filch_per_worker_create", per_worker_size, "size 0"),                                   \
    SAYS("filch_per_worker_create", per_worker_none, "not a pool"),                               \
    SAYS("filch_per_worker_get", per_worker_get_null, "null"),                                    \
    SAYS("filch_per_worker_each", per_worker_each_null, "null"),                                  \
    SAYS("filch_per_worker_each", per_worker_each_null_fn, "null"),                               \
    SAYS("filch_per_worker_destroy", per_worker_destroy_null, "null"),                            \
    DEAD("filch_per_worker_get", per_worker_get_dead),                                            \
    DEAD("filch_per_worker_destroy", per_worker_destroy_twice),
