/* Parameters of tasks may have any name that does not begin with filch_. */
#include "../check.h"
#include <filch.h>

FILCH_TASK(int, short_names, int, f, int, h, int, s, int, p, int, a, int, n)
{
    return f + 2 * h + 3 * s + 4 * p + 5 * a + 6 * n;
}
FILCH_TASK_BOUNDED(int, long_names, int, par, int, base, int, box, int, pool, int, slot, int, self)
{
    return par + 2 * base + 3 * box + 4 * pool + 5 * slot + 6 * self;
}
FILCH_TASK_VOID(out_names, int *, head, int, r)
{
    FILCH_FORK(x, short_names, r, r, r, r, r, r);
    FILCH_FORK(y, long_names, r, r, r, r, r, r);
    *head = FILCH_JOIN(long_names, y);
    *head += FILCH_JOIN(short_names, x);
}

static void parameters_may_have_any_name(void)
{
    int sum = 0;
    FILCH_RUN(out_names, &sum, 1);
    CHECK_EQ(sum, 42);
    CHECK_EQ(FILCH_RUN(long_names, 1, 1, 1, 1, 1, 1), 21);
}

int main(void)
{
    RUN(parameters_may_have_any_name);
    return check_report();
}
