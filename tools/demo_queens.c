/* demo_queens.c: in how many ways n queens stand on a board without attacking each other. */
#include "demo.h"
#include <stdio.h>

static int board;
static int64_t serial_count, parallel_count;

static int64_t place_serial(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    int64_t solutions = 0;
    if (columns == all)
        return 1;
    for (unsigned open = all & ~(columns | left | right); open; open &= open - 1) {
        unsigned queen = open & -open;
        solutions += place_serial(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return solutions;
}

FILCH_TASK(int64_t, place, unsigned, all, unsigned, columns, unsigned, left, unsigned, right)
{
    if (columns == all)
        return 1;
    unsigned open = all & ~(columns | left | right);
    if (!open)
        return 0;
    unsigned first = open & -open;
    FILCH_FORKS(later, place);
    for (open ^= first; open; open &= open - 1) {
        unsigned queen = open & -open;
        FILCH_FORK_ADD(place, all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    int64_t solutions =
        FILCH_CALL(place, all, columns | first, (left | first) << 1, (right | first) >> 1);
    while (FILCH_FORKS_LEFT(later))
        solutions += FILCH_JOIN_LAST(place, later);
    return solutions;
}

static int prepare(int quick)
{
    board = quick ? 10 : 15;
    return 0;
}

static void serial(void)
{
    serial_count = place_serial((1u << board) - 1, 0, 0, 0);
}

static void parallel(filch_pool *pool)
{
    parallel_count = FILCH_RUN_ON(pool, place, (1u << board) - 1, 0, 0, 0);
}

static int right(void)
{
    return serial_count == (board == 15 ? 2279184 : 724) && parallel_count == serial_count;
}

static void describe(char *out, size_t size)
{
    snprintf(out, size, "%lld ways on %d x %d", (long long)parallel_count, board, board);
}

const struct demo_work demo_queens = {"n-queens", prepare, serial, parallel, right, describe};
