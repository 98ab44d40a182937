/* misuse/dump.h: rows about filch/dump.h. */
#include <filch/dump.h>

static void pool_dump_null(void) { (void)filch_pool_dump(0, 2); }
static void pool_dump_none(void) { (void)filch_pool_dump(no_pool(), 2); }
static void pool_cancel_null(void) { (void)filch_pool_cancel(0); }
static void pool_cancel_none(void) { (void)filch_pool_cancel(no_pool()); }
static void pool_cancel_answers(void)
{
    shut_pool();
    CHECK_EQ(filch_pool_cancel(pool), 0);
    CHECK_EQ(filch_pool_cancel(pool), 0);
}
static void dump_answers(void)
{
    CHECK(filch_pool_default());
    CHECK_EQ(filch_dump(-1), -EBADF);
    CHECK_EQ(filch_pool_dump(filch_pool_default(), -1), -EBADF);
    CHECK_EQ(filch_dump_on_signal(-1), -EINVAL);
    CHECK_EQ(filch_dump_on_signal(9), -EINVAL); /* cannot be caught */
}

#define ROWS_DUMP                                                                                 \
    SAYS("filch_pool_dump", pool_dump_null, "not a pool"),                                        \
    SAYS("filch_pool_dump", pool_dump_none, "not a pool"),                                        \
    SAYS("filch_pool_cancel", pool_cancel_null, "not a pool"),                                    \
    SAYS("filch_pool_cancel", pool_cancel_none, "not a pool"),                                    \
    ANSWERS("filch_pool_cancel", pool_cancel_answers),                                            \
    ANSWERS("filch_dump filch_pool_dump filch_dump_on_signal", dump_answers),
