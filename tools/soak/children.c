/* children.c: fork() while all pools are busy. The child has them empty and works with them; the
 * parent's jobs stay the parent's. What the child counts arrives through a page that both have.
 *
 * Not under sanitizers: the thread sanitizer forbids new threads in such a child, and the address
 * sanitizer may leave its allocator locked there. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "soak.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct news {
    uint64_t steps, ran; /* written by the child */
};

/* ---- in the child -------------------------------------------------------------------------- */

static void tell(struct news *news)
{
    filch_add_relaxed(&news->steps, 1u); /* order: a sign of life */
}

static void child_uses(struct driver *d, filch_pool *pool, struct news *news)
{
    uint32_t n = 1 + driver_below(d, 200);
    tree_run(d, pool, 1 + driver_below(d, 1000), driver_below(d, 1000));
    tell(news);
    for (uint32_t i = 0; i < n; i++) {
        cell_init(d, i, cell_run);
        if (filch_submit_on(pool, &d->job[i], draw_where(d)) != 0)
            tally_wrong(d, "filch_submit_on fails in a child");
    }
    d->born += n;
    if (filch_pool_wait(pool, FILCH_FOREVER) != 0)
        tally_wrong(d, "filch_pool_wait fails in a child");
    tell(news);
    cell_check(d, 0, n, 0);
}

static int child_main(struct driver *d, filch_pool *inherited, struct news *news)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a stall ends both */
    memset(d->mark, 0, SOAK_MARKS);
    tally_begin(d);
    child_uses(d, inherited, news);
    child_uses(d, draw_shared((int)driver_below(d, 3)), news);
    struct drawn own = draw_pool(d, DRAW_OWN | DRAW_DEEP);
    child_uses(d, own.pool, news);
    draw_done(d, own);
    tell(news);
    if (driver_chance(d, 2))
        filch_pool_destroy(inherited);
    news->ran = tally_end(d);
    return d->lost || d->doubled || soak_wrong;
}

/* ---- in the parent ------------------------------------------------------------------------- */

static void child_await(struct driver *d, pid_t child, struct news *news)
{
    uint64_t seen = 0;
    int status = 0;
    pid_t got;
    filch_store_relaxed(&d->child, child); /* order: a sign to the watch */
    while ((got = waitpid(child, &status, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
        uint64_t now = filch_load_relaxed(&news->steps); /* order: a sign of life */
        if (now != seen)
            driver_step(d);
        seen = now;
        soak_nap_us(200);
    }
    filch_store_relaxed(&d->child, (pid_t)0); /* order: as above */
    driver_step(d);
    if (got != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        tally_wrong(d, "a child of fork() ended with %#x", (unsigned)status);
}

static void child_once(struct driver *d, filch_pool *pool, struct news *news)
{
    uint32_t n = 1 + driver_below(d, 1000);
    for (uint32_t i = 0; i < n; i++) {
        cell_init(d, i, cell_run);
        if (filch_submit_on(pool, &d->job[i], draw_where(d)) != 0)
            tally_wrong(d, "filch_submit_on fails");
    }
    d->born += n;
    *news = (struct news){0};
    pid_t child = fork();
    if (child == 0)
        _exit(child_main(d, pool, news));
    if (child < 0)
        tally_wrong(d, "fork fails: %s", strerror(errno));
    if (filch_pool_wait(pool, FILCH_FOREVER) != 0)
        tally_wrong(d, "filch_pool_wait fails after fork()");
    driver_step(d);
    if (child > 0)
        child_await(d, child, news);
    cell_check(d, 0, n, 0);
    filch_add_relaxed(&soak_children, 1u); /* order: figures, both */
    filch_add_relaxed(&soak_phase_totals[d->phase - phases].tasks, news->ran);
}

void phase_children(struct driver *d)
{
    struct news *news = mmap(NULL, sizeof *news, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct drawn p = draw_pool(d, DRAW_OWN | DRAW_DEEP);
    uint32_t rounds = driver_range(d, 1, 3);
    if (news == MAP_FAILED) {
        tally_wrong(d, "there is no memory for a page");
        rounds = 0;
    }
    for (uint32_t i = 0; p.own && i < rounds && !soak_ending(); i++)
        child_once(d, p.pool, news);
    draw_done(d, p);
    if (news != MAP_FAILED)
        (void)munmap(news, sizeof *news);
}
