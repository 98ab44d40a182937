/* calls.c: the paths that users walk most, by public calls alone. */
#include "paths.h"

#include <filch/chan.h>
#include <filch/par.h>
#include <filch/task.h>

/* ---- forks ------------------------------------------------------------------------------------- */

enum { FIB = 27, FIB_IS = 196418, FIB_FORKS = 317810 };

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, n - 2);
    long a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib, b);
}

static int fork_join(void)
{
    return FILCH_RUN(fib, FIB) != FIB_IS;
}

/* ---- tasks ------------------------------------------------------------------------------------- */

enum { TASKS = 2000, CROWD = 100 };

static int give_back(void *arg)
{
    return *(int *)arg;
}

static int joined(filch_task *t, int expected)
{
    int result = -1;
    return filch_task_join(t, &result, FILCH_FOREVER) == 0 && result == expected;
}

/* Joined at once: nothing else needs to run in between. */
static int spawn_join(void)
{
    for (int i = 0; i < TASKS; i++) {
        filch_task *t;
        if (filch_spawn(&t, give_back, &i) || !joined(t, i))
            return 1;
    }
    return 0;
}

/* First all are made, then all are joined, the oldest first. */
static int spawn_crowd(void)
{
    filch_task *t[CROWD];
    int number[CROWD];
    for (int round = 0; round < TASKS / CROWD; round++) {
        for (int i = 0; i < CROWD; i++) {
            number[i] = i;
            if (filch_spawn(&t[i], give_back, &number[i]))
                return 1;
        }
        for (int i = 0; i < CROWD; i++)
            if (!joined(t[i], i))
                return 1;
    }
    return 0;
}

static int yielder(void *arg)
{
    (void)arg;
    for (int i = 0; i < TASKS / 2; i++)
        filch_yield();
    return 0;
}

/* Two tasks by turns. */
static int yield(void)
{
    filch_task *a, *b;
    if (filch_spawn(&a, yielder, NULL) || filch_spawn(&b, yielder, NULL))
        return 1;
    return !joined(a, 0) || !joined(b, 0);
}

/* ---- channels ---------------------------------------------------------------------------------- */

struct table {
    filch_chan *ping, *pong;
};

static int player(void *arg)
{
    struct table *t = arg;
    int ball;
    for (int i = 0; i < TASKS; i++)
        if (filch_chan_recv(t->ping, &ball, FILCH_FOREVER) || ball != i ||
            filch_chan_send(t->pong, &ball, FILCH_FOREVER))
            return 1;
    return 0;
}

static int serve(struct table *t)
{
    filch_task *other;
    int ball;
    if (filch_spawn(&other, player, t))
        return 1;
    for (int i = 0; i < TASKS; i++)
        if (filch_chan_send(t->ping, &i, FILCH_FOREVER) || filch_chan_recv(t->pong, &ball, FILCH_FOREVER) ||
            ball != i)
            return 1;
    return !joined(other, 0);
}

static int ping_pong(void)
{
    struct table t;
    if (filch_chan_create(&t.ping, sizeof(int), 0) || filch_chan_create(&t.pong, sizeof(int), 0))
        return 1;
    int wrong = serve(&t);
    filch_chan_destroy(t.ping);
    filch_chan_destroy(t.pong);
    return wrong;
}

/* ---- loops ------------------------------------------------------------------------------------- */

enum { LOOPS = 2000, SHORT = 8, LONG = 1000000, PART = 1000, ELEMENT_NS = 10 };

static void add(size_t lo, size_t hi, void *arg)
{
    *(size_t *)arg += hi - lo;
    paths_pass((hi - lo) * ELEMENT_NS);
}

/* Of few elements: what a call costs. */
static int for_call(void)
{
    size_t sum = 0;
    for (int i = 0; i < LOOPS; i++)
        filch_for(0, SHORT, add, &sum);
    return sum != (size_t)LOOPS * SHORT;
}

/* Of many: what each thousand costs besides the body. */
static int for_1000(void)
{
    size_t sum = 0;
    filch_for(0, LONG, add, &sum);
    return sum != LONG;
}

/* ---- jobs -------------------------------------------------------------------------------------- */

static void count(void *arg)
{
    ++*(int *)arg;
}

/* Waits for the last first: when that has run, the others have. */
static int submit(void)
{
    static filch_job jobs[CROWD];
    int ran = 0;
    for (int round = 0; round < TASKS / CROWD; round++) {
        for (int i = 0; i < CROWD; i++) {
            filch_job_init(&jobs[i], count, &ran);
            if (filch_submit(&jobs[i], FILCH_ANYWHERE))
                return 1;
        }
        for (int i = CROWD - 1; i >= 0; i--)
            if (filch_job_wait(&jobs[i], FILCH_FOREVER))
                return 1;
    }
    return ran != TASKS;
}

int main(int argc, char **argv)
{
    static const struct paths_case cases[] = {
        {"fork", 1, 1, FIB_FORKS, fork_join},
        {"spawn_join", 1, 4, TASKS, spawn_join},
        {"spawn_join.2", 2, 4, TASKS, spawn_join},
        {"spawn_crowd", 1, 4, TASKS, spawn_crowd},
        {"spawn_crowd.2", 2, 4, TASKS, spawn_crowd},
        {"ping_pong", 1, 4, TASKS, ping_pong},
        {"ping_pong.2", 2, 4, TASKS, ping_pong},
        {"yield", 1, 4, TASKS, yield},
        {"yield.2", 2, 4, TASKS, yield},
        {"submit", 1, 4, TASKS, submit},
        {"submit.2", 2, 4, TASKS, submit},
        {"for_call", 1, 4, LOOPS, for_call},
        {"for_call.2", 2, 4, LOOPS, for_call},
        {"for_1000", 1, 4, LONG / PART, for_1000},
        {"for_1000.2", 2, 4, LONG / PART, for_1000},
    };
    return paths_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
