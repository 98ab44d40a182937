/* misuse/blocking.h: rows about filch/blocking.h. */
#include <filch/blocking.h>

static void blocking_null(void) { (void)filch_blocking(0, 0); }
static void blocking_answers(void) { CHECK_EQ(filch_blocking(returns, 0), 0); }

#define ROWS_BLOCKING                                                                             \
    SAYS("filch_blocking", blocking_null, "null"),                                                \
    ANSWERS("filch_blocking", blocking_answers),
