/* A variable number of forks per task, and a bounded task: serial speed, parallel when asked. */
#include <filch.h>
#include <stdio.h>

FILCH_TASK_BOUNDED(long, place, unsigned, all, unsigned, columns, unsigned, left, unsigned, right)
{
    if (columns == all)
        return 1;
    long ways = 0;
    FILCH_FORKS(later, place);
    for (unsigned open = all & ~(columns | left | right); open; open &= open - 1) {
        unsigned queen = open & -open;
        FILCH_FORK_INTO(ways +=, place, all, columns | queen, (left | queen) << 1,
                        (right | queen) >> 1);
    }
    while (FILCH_FORKS_LEFT(later))
        ways += FILCH_JOIN_LAST(place, later);
    return ways;
}

int main(void)
{
    long ways = FILCH_RUN(place, (1u << 10) - 1, 0, 0, 0);
    printf("%ld ways to put 10 queens\n", ways);
    return ways == 724 ? 0 : 1;
}
