/* Which stack overflowed, when there are many: the report finds the right pool and the right stack,
 * and tells too many forks from too deep a recursion. */
#define _GNU_SOURCE
#include "../forking.h"

#include <sys/mman.h>

static __attribute__((noinline)) long dig(long depth)
{
    char frame[300];
    memset(frame, (int)depth, sizeof frame);
    __asm__ __volatile__("" : : "r"(frame) : "memory");
    if (depth == INT32_MAX)
        return 0;
    return dig(depth + 1) + frame[depth % 300];
}

static void digs(void *arg)
{
    (void)arg;
    printf("%ld", dig(0));
}

static void says(void (*body)(void), const char *text)
{
    struct ending e = in_child(body);
    CHECK_MSG(strstr(e.text, text), "it said: %s", e.text);
    CHECK(aborted(&e));
}

/* ---- the right pool --------------------------------------------------------------------------- */

static filch_pool *small_pool(const char *name, size_t kib)
{
    filch_config c = config_of(2, FILCH_JOIN_SUSPEND);
    filch_pool *pool;
    c.name = name;
    c.stack_size = kib << 10;
    CHECK_EQ(filch_pool_create(&pool, &c), 0);
    return pool;
}

static void idles(void *arg) { (void)arg; }

/* Every pool has stacks; the one that overflows was made in between. */
static void between_body(void)
{
    filch_pool *first = small_pool("first", 64), *second = small_pool("second", 192);
    filch_pool *third = small_pool("third", 128);
    run_as_job(first, idles, NULL);
    run_as_job(second, idles, NULL);
    run_as_job(third, idles, NULL);
    run_as_job(second, digs, NULL);
}

static void the_stack_of_the_right_pool_is_named(void)
{
    says(between_body, "(stack of 192 KiB)");
}

/* ---- the right stack -------------------------------------------------------------------------- */

struct crowd {
    filch_pool *pool;
    filch_event go;
    uint32_t here;
};

static void waits(void *arg)
{
    struct crowd *c = arg;
    filch_add_acq_rel(&c->here, 1u);
    filch_event_wait(&c->go);
}

/* More stacks of 8 MiB than one reservation holds, and the job that overflows is on a later one. */
static void crowded_body(void)
{
    static filch_job jobs[3000];
    static struct crowd c;
    c.pool = pool_of(2, FILCH_JOIN_SUSPEND);
    run_as_job(c.pool, idles, NULL);
    for (int i = 0; i < 3000; i++) {
        filch_job_init(&jobs[i], waits, &c);
        CHECK_EQ(filch_submit_on(c.pool, &jobs[i], FILCH_ANYWHERE), 0);
    }
    while (filch_load_acquire(&c.here) < 3000)
        sched_yield();
    run_as_job(c.pool, digs, NULL);
}

static void a_stack_among_thousands_is_found(void)
{
    says(crowded_body, "filch: stack overflow in task");
}

/* ---- nobody's stack --------------------------------------------------------------------------- */

static void exit_42(int sig)
{
    _exit(sig == SIGSEGV ? 42 : 1);
}

static void faults(void *arg)
{
    char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)arg;
    __asm__ __volatile__("" : "+r"(page) : : "memory");
    *page = 1;
}

static void foreign_body(void)
{
    signal(SIGSEGV, exit_42);
    run_as_job(pool_of(2, FILCH_JOIN_SUSPEND), faults, NULL);
}

static void a_fault_in_a_job_that_is_no_overflow_is_not_called_one(void)
{
    struct ending e = in_child(foreign_body);
    CHECK_STR(e.text, "");
    CHECK(WIFEXITED(e.status) && WEXITSTATUS(e.status) == 42);
}

/* ---- forks ------------------------------------------------------------------------------------ */

FILCH_TASK(int, leaf, int, n) { return n; }
FILCH_TASK_VOID(never_joins)
{
    FILCH_FORKS(many, leaf);
    for (int i = 0; i < INT32_MAX; i++)
        FILCH_FORK_ADD(leaf, i);
    while (FILCH_FORKS_LEFT(many))
        FILCH_JOIN_LAST(leaf, many);
}

static void forks_body(void)
{
    FILCH_RUN_ON(pool_of(1, FILCH_JOIN_SUSPEND), never_joins);
}

static void more_forks_than_there_is_room_for_are_reported_as_such(void)
{
    says(forks_body, "forks pending)");
}

int main(void)
{
    if (WITH_ASAN || WITH_TSAN) {
        printf("skipped: the sanitizer handles the signal itself\n");
        return 77;
    }
    RUN(the_stack_of_the_right_pool_is_named);
    RUN(a_stack_among_thousands_is_found);
    RUN(a_fault_in_a_job_that_is_no_overflow_is_not_called_one);
    RUN(more_forks_than_there_is_room_for_are_reported_as_such);
    return check_report();
}
