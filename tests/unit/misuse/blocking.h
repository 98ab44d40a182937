/* misuse/blocking.h: rows about filch/blocking.h. */
#include <filch/blocking.h>

static void blocking_null(void) { (void)filch_blocking(0, 0); }
static void blocking_answers(void) { CHECK_EQ(filch_blocking(returns, 0), 0); }
static void leave_alone(void *arg) { (void)arg, filch_blocking_leave(); }
static void leave_without(void) { make_pool(), filch_run_on(pool, leave_alone, 0); }
static void enter_alone(void *arg) { (void)arg, filch_blocking_enter(); }
static void enter_only(void) { make_pool(), filch_run_on(pool, enter_alone, 0); }
static void enter_answers(void) { filch_blocking_enter(), filch_blocking_leave(); }

#define ROWS_BLOCKING                                                                             \
    SAYS("filch_blocking", blocking_null, "null"),                                                \
    ANSWERS("filch_blocking", blocking_answers),                                                  \
    SAYS("filch_blocking_leave", leave_without, "without filch_blocking_enter"),                  \
    ANSWERS("filch_blocking_leave", enter_answers),                                               \
    SAYS("filch_blocking_enter", enter_only, "without filch_blocking_leave"),                     \
    ANSWERS("filch_blocking_enter", enter_answers),
