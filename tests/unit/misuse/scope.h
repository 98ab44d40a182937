/* misuse/scope.h: rows about filch/scope.h. */
#include <filch/scope.h>

static filch_scope scope; /* zeroes: never opened */
static void open_scope(void) { CHECK_EQ(filch_scope_open(&scope), 0); }
static void scope_open_null(void) { (void)filch_scope_open(0); }
static void scope_open_none(void) { (void)filch_scope_open_on(&scope, no_pool()); }
static void scope_go_null(void) { open_scope(), (void)filch_scope_go(&scope, 0, 0); }
static void scope_go_closed(void) { (void)filch_scope_go(&scope, returns, 0); }
static void scope_close_null(void) { (void)filch_scope_close(0); }
static void scope_close_twice(void)
{
    open_scope();
    CHECK_EQ(filch_scope_close(&scope), 0);
    (void)filch_scope_close(&scope);
}
static void scope_cancel_closed(void) { filch_scope_cancel(&scope); }
static void scope_canceled_closed(void) { (void)filch_scope_canceled(&scope); }
static void scope_failed_null(void) { (void)filch_scope_failed(0); }
static void scope_deadline_closed(void) { filch_scope_deadline(&scope, 1); }
static void scope_deadline_twice(void)
{
    open_scope();
    filch_scope_deadline(&scope, FILCH_FOREVER);
    filch_scope_deadline(&scope, FILCH_FOREVER);
}
static int opens_only(void *unused)
{
    (void)unused;
    open_scope();
    return 0;
}
static int shields_what_opens_only(void *unused)
{
    (void)unused;
    return filch_scope_shield(opens_only, 0, FILCH_FOREVER);
}
static void scope_shield_null(void) { (void)filch_scope_shield(0, 0, FILCH_FOREVER); }
static void scope_shield_open(void)
{
    filch_task *t;
    CHECK_EQ(filch_spawn(&t, shields_what_opens_only, 0), 0);
    (void)filch_task_join(t, 0, FILCH_FOREVER);
}
static void scope_answers(void)
{
    open_scope();
    CHECK_EQ(filch_scope_go_named(&scope, 0, returns, 0, 0), 0);
    filch_scope_deadline(&scope, INT64_MIN);
    int rc = filch_scope_close(&scope);
    CHECK(rc == 0 || rc == -ETIMEDOUT);
    CHECK(!filch_scope_failed(&scope));
    CHECK_EQ(filch_canceled(), 0);
}

#define ROWS_SCOPE                                                                                \
    SAYS("filch_scope_open", scope_open_null, "null"),                                            \
    SAYS_AS("filch_scope_open_on", "filch_scope_open", scope_open_none, "not a pool"),            \
    SAYS("filch_scope_go", scope_go_null, "null"),                                                \
    SAYS_AS("filch_scope_go_named", "filch_scope_go", scope_go_closed, "not an open scope"),      \
    SAYS("filch_scope_close", scope_close_null, "not an open scope"),                             \
    SAYS("filch_scope_close", scope_close_twice, "not an open scope"),                            \
    SAYS("filch_scope_cancel", scope_cancel_closed, "not an open scope"),                         \
    SAYS("filch_scope_canceled", scope_canceled_closed, "not an open scope"),                     \
    SAYS("filch_scope_failed", scope_failed_null, "null"),                                        \
    SAYS("filch_scope_deadline", scope_deadline_closed, "not an open scope"),                     \
    SAYS("filch_scope_deadline", scope_deadline_twice, "one already"),                            \
    SAYS("filch_scope_shield", scope_shield_null, "null function"),                               \
    SAYS("filch_scope_shield", scope_shield_open, "left a scope open"),                           \
    ANSWERS("filch_scope_close filch_scope_go_named filch_canceled filch_scope_failed", scope_answers),
