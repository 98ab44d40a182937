/* watch.c: the control thread. It keeps the time, changes how hard the seam shakes and on which CPUs
 * threads may run, and says when something has stalled.
 *
 * A stall is one second without a sign of life of a driver (no task of its phase ended, none of its
 * calls returned), while the control thread got its own ticks, and while every thread that could
 * have been concerned either ran or slept by its own choice: time that a thread spent waiting for a
 * CPU (schedstat) does not count, because then others were in the way. Whatever the reason, 20
 * seconds are a stall. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "core/idle.h"
#include "core/queue.h"
#include "seam.h"
#include "soak.h"

#include <dirent.h>
#include <filch/stats.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C(1000000)
enum { TICK_MS = 50, LATE_MS = 150, PATIENCE_MS = 1000, WALL_MS = 20000, KIDS = 64 };

int64_t soak_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

void soak_nap_us(int64_t us)
{
    struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
    (void)nanosleep(&t, NULL);
}

/* ---- who waited for a CPU ------------------------------------------------------------------ */

struct kid {
    pid_t tid;
    uint64_t delay_ns;
};

struct quiet {
    uint64_t seen;       /* sign of life */
    int64_t chance_ns;   /* without another, in which it could have come */
    int64_t wall_ns;
    struct kid kids[KIDS]; /* threads of a child of fork() */
};

static struct quiet quiets[SOAK_DRIVERS];
static uint64_t delays[SEAM_THREADS];

/* Nanoseconds that a thread waited for a CPU so far; 0 if the kernel does not say. */
static uint64_t delay_of(pid_t pid, pid_t tid)
{
    char path[64];
    unsigned long long ran, waited = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    if (fscanf(f, "%llu %llu", &ran, &waited) != 2)
        waited = 0;
    fclose(f);
    return waited;
}

static int64_t delay_since(uint64_t *before, uint64_t now)
{
    int64_t more = (int64_t)(now - *before);
    *before = now;
    return more;
}

/* Anybody may have been in a shared pool but the workers of another driver's own. */
static bool concerned(int i, int driver, struct seam_view *t)
{
    return seam_look(i, t) && (t->driver == driver || t->driver == SEAM_SHARED || !t->worker);
}

static int64_t delay_here(int driver)
{
    int64_t most = 0;
    struct seam_view t;
    for (int i = 0; i < SEAM_THREADS; i++) {
        if (!concerned(i, driver, &t))
            continue;
        int64_t more = delay_since(&delays[i], delay_of(getpid(), t.tid));
        most = more > most ? more : most;
    }
    return most;
}

static int64_t delay_kid(struct quiet *q, pid_t pid, pid_t tid)
{
    for (int i = 0; i < KIDS; i++) {
        if (q->kids[i].tid != tid && q->kids[i].tid != 0)
            continue;
        q->kids[i].tid = tid;
        return delay_since(&q->kids[i].delay_ns, delay_of(pid, tid));
    }
    return 0;
}

static int64_t delay_child(struct quiet *q, pid_t child)
{
    char path[64];
    int64_t most = 0;
    struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%d/task", (int)child);
    DIR *folder = opendir(path);
    while (folder && (entry = readdir(folder))) {
        pid_t tid = (pid_t)atoi(entry->d_name);
        int64_t more = tid > 0 ? delay_kid(q, child, tid) : 0;
        most = more > most ? more : most;
    }
    if (folder)
        closedir(folder);
    return most;
}

/* ---- stalls -------------------------------------------------------------------------------- */

/* True if the driver has stalled. `elapsed` since the last look; 0: we were late ourselves. */
static bool look(struct driver *d, int64_t elapsed)
{
    struct quiet *q = &quiets[d->index];
    uint64_t now = tally_sum(&d->tally) + filch_load_relaxed(&d->steps); /* order: a sign of life */
    pid_t child = filch_load_relaxed(&d->child);                         /* order: as above */
    if (now != q->seen || filch_load_acquire(&d->finished)) { /* order: nothing more to come */
        q->seen = now;
        q->chance_ns = q->wall_ns = 0;
        memset(q->kids, 0, sizeof q->kids);
        return false;
    }
    int64_t delay = delay_here(d->index), more = child ? delay_child(q, child) : 0;
    delay = more > delay ? more : delay;
    if (q->wall_ns > 0) /* the first look only sets the clocks */
        q->chance_ns += elapsed > delay ? elapsed - delay : 0;
    q->wall_ns += elapsed ? elapsed : 1;
    return q->chance_ns >= PATIENCE_MS * MS || q->wall_ns >= WALL_MS * MS;
}

static void print_pool(filch_pool *pool, const char *text)
{
    struct idle_figures f = idle_figures(pool);
    fprintf(stderr, "pool %p: %s\n  searching %u, sleeping %u, threads %u, pending %llu, injector %zu\n",
            (void *)pool, text, f.searching, f.sleeping, f.threads,
            (unsigned long long)filch_load_relaxed(&pool->pending), /* order: a figure */
            inject_count(&pool->injector));
    for (int i = 0; i < pool->count; i++) {
        struct worker *w = &pool->workers[i];
        fprintf(stderr, "  seat %d: queue %zu, inbox %zu, gate %u, guest %u\n", i,
                queue_size(w), inject_count(&w->inbox),
                filch_load_relaxed(&w->gate), filch_load_relaxed(&w->guest)); /* order: figures */
    }
    filch_stats_print(pool);
}

static void print_threads(int driver)
{
    struct seam_view t;
    for (int i = 0; i < SEAM_THREADS; i++)
        if (concerned(i, driver, &t))
            fprintf(stderr, "thread %d (%s of driver %d) is in %s\n", (int)t.tid,
                    t.worker ? "worker" : "thread", t.driver, t.where ? t.where : "its own code");
}

static void give_up(int signal)
{
    (void)signal;
    _exit(1);
}

static void print_stall(struct driver *d)
{
    struct quiet *q = &quiets[d->index];
    signal(SIGALRM, give_up); /* a pool may hang so that it cannot even be looked at */
    alarm(10);
    fprintf(stderr,
            "filch soak: stall: driver %d made no progress in %s for %.1f s (%.1f s by the clock)\n",
            d->index, d->phase ? d->phase->name : "?", (double)q->chance_ns / 1e9, (double)q->wall_ns / 1e9);
    fprintf(stderr, "born %llu, ran %llu\n", (unsigned long long)d->born,
            (unsigned long long)tally_sum(&d->tally));
    print_threads(d->index);
    for (int i = 0; i < SOAK_SHOWN; i++)
        if (d->pools[i])
            print_pool(d->pools[i], d->text[i]);
    for (int i = 0; draw_shared(i); i++)
        print_pool(draw_shared(i), draw_shared_text(i));
}

/* ---- weather ------------------------------------------------------------------------------- */

static cpu_set_t allowed;

static bool cpus_draw(struct rng *rng, cpu_set_t *out)
{
    size_t spare = CPU_SETSIZE; /* one at least */
    CPU_ZERO(out);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed))
            continue;
        if (spare == CPU_SETSIZE || rng_below(rng, 2))
            spare = cpu;
        if (rng_below(rng, 2))
            CPU_SET(cpu, out);
    }
    if (CPU_COUNT(out) == 0 && spare < CPU_SETSIZE)
        CPU_SET(spare, out);
    return CPU_COUNT(&allowed) > 1;
}

static void affinity_change(struct rng *rng)
{
    cpu_set_t cpus;
    struct seam_view t;
    int i = (int)rng_below(rng, SEAM_THREADS), tries = SEAM_THREADS;
    while (!seam_look(i, &t) && --tries > 0)
        i = (i + 1) % SEAM_THREADS;
    if (tries > 0 && cpus_draw(rng, &cpus) && sched_setaffinity(t.tid, sizeof cpus, &cpus) == 0)
        filch_add_relaxed(&soak_affinity, 1u); /* order: a figure */
}

static void weather(struct rng *rng)
{
    static const enum seam_level levels[] = {SEAM_CALM, SEAM_LIGHT, SEAM_LIGHT, SEAM_STORM};
    if (rng_below(rng, 6) == 0)
        seam_set_level(levels[rng_below(rng, 4)]);
    affinity_change(rng);
}

/* ---- the loop ------------------------------------------------------------------------------ */

static bool all_finished(void)
{
    for (int i = 0; i < SOAK_DRIVERS; i++)
        if (!filch_load_acquire(&soak_drivers[i].finished)) /* order: its last phase is accounted */
            return false;
    return true;
}

static bool look_at_all(int64_t elapsed)
{
    for (int i = 0; i < SOAK_DRIVERS; i++) {
        if (!look(&soak_drivers[i], elapsed))
            continue;
        print_stall(&soak_drivers[i]);
        filch_add_relaxed(&soak_stalls, 1u); /* order: a figure */
        return false;
    }
    return true;
}

bool watch_run(const struct options *o)
{
    struct rng rng;
    int64_t begin = soak_clock_ns(), last = begin;
    rng_seed(&rng, o->seed ^ 0xa77);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        CPU_ZERO(&allowed);
    while (!all_finished()) {
        soak_nap_us(TICK_MS * 1000);
        int64_t now = soak_clock_ns();
        bool late = now - last > LATE_MS * MS;
        if (!look_at_all(late ? 0 : now - last))
            return false;
        last = soak_clock_ns();
        if (now - begin >= o->seconds * 1000 * MS)
            soak_end();
        weather(&rng);
        report_progress(o, (double)(now - begin) / 1e9);
    }
    return true;
}
