/* tally.c: drivers and their accounts; who ran, how often. */
#include "seam.h"
#include "soak.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct totals soak_phase_totals[SOAK_PHASES];
uint64_t soak_lost, soak_doubled, soak_wrong, soak_stalls;
uint64_t soak_children, soak_affinity;
uint32_t soak_stop;
struct driver soak_drivers[SOAK_DRIVERS];

/* ---- drivers ------------------------------------------------------------------------------- */

static void *must(void *p)
{
    if (!p) {
        fputs("filch soak: there is no memory to begin with\n", stderr);
        exit(1);
    }
    return p;
}

void driver_init(struct driver *d, int index, uint64_t seed)
{
    memset(d, 0, sizeof *d);
    d->index = index;
    rng_seed(&d->rng, seed + (uint64_t)index * 0x9e3779b97f4a7c15u);
    d->mark = must(calloc(SOAK_MARKS, sizeof *d->mark));
    d->job = must(calloc(SOAK_CELLS, sizeof *d->job));
    d->cell = must(calloc(SOAK_CELLS, sizeof *d->cell));
}

void driver_free(struct driver *d)
{
    free(d->mark);
    free(d->job);
    free(d->cell);
}

uint32_t driver_below(struct driver *d, uint32_t n)
{
    return rng_below(&d->rng, n);
}

uint32_t driver_range(struct driver *d, uint32_t low, uint32_t high)
{
    return low + rng_below(&d->rng, high - low + 1);
}

bool driver_chance(struct driver *d, uint32_t one_in)
{
    return rng_below(&d->rng, one_in) == 0;
}

void driver_step(struct driver *d)
{
    filch_add_relaxed(&d->steps, 1u); /* order: a sign of life */
}

/* ---- what went wrong ----------------------------------------------------------------------- */

void soak_end(void)
{
    filch_store_relaxed(&soak_stop, 1u); /* order: a flag, asked again soon */
}

bool soak_ending(void)
{
    return filch_load_relaxed(&soak_stop); /* order: a flag, asked again soon */
}

static void complain(struct driver *d, const char *format, va_list args)
{
    static uint32_t said;
    char line[400];
    if (filch_add_relaxed(&said, 1u) >= 10) /* order: a ticket */
        return;
    int n = snprintf(line, sizeof line, "filch soak: driver %d, %s: ", d->index,
                     d->phase ? d->phase->name : "?");
    vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    fprintf(stderr, "%s\n", line);
    for (int i = 0; i < SOAK_SHOWN; i++)
        if (d->pools[i])
            fprintf(stderr, "    pool %d: %s\n", i, d->text[i]);
}

void tally_wrong(struct driver *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(d, format, args);
    va_end(args);
    filch_add_relaxed(&soak_wrong, 1u); /* order: a figure */
    soak_end();
}

static void off(struct driver *d, uint64_t *what, uint64_t n, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void off(struct driver *d, uint64_t *what, uint64_t n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(d, format, args);
    va_end(args);
    *what += n;
    soak_end();
}

/* ---- counting ------------------------------------------------------------------------------ */

void tally_count(struct driver *d)
{
    unsigned lane = (unsigned)(filch_worker_id() + 1) % SOAK_LANES;
    filch_add_relaxed(&d->tally.lane[lane].ran, 1u); /* order: summed after the phase's last wait */
}

void tally_mark(struct driver *d, uint32_t index)
{
    filch_add_relaxed(&d->mark[index], (uint8_t)1); /* order: looked at after the phase's last wait */
    tally_count(d);
}

uint64_t tally_sum(const struct tally *t)
{
    uint64_t sum = 0;
    for (int i = 0; i < SOAK_LANES; i++)
        sum += filch_load_relaxed(&t->lane[i].ran); /* order: what counted was waited for */
    return sum;
}

static void once(struct driver *d, const char *what, uint32_t index, uint32_t times)
{
    if (times == 0)
        off(d, &d->lost, 1, "%s %u was lost", what, index);
    else if (times > 1)
        off(d, &d->doubled, times - 1, "%s %u ran %u times", what, index, times);
}

void tally_marks(struct driver *d, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        once(d, "task", i, filch_load_relaxed(&d->mark[i])); /* order: the phase waited for all */
        filch_store_relaxed(&d->mark[i], (uint8_t)0);        /* order: nobody else has it now */
    }
}

void tally_begin(struct driver *d)
{
    for (int i = 0; i < SOAK_LANES; i++)
        filch_store_relaxed(&d->tally.lane[i].ran, (uint64_t)0); /* order: between phases */
    d->born = d->lost = d->doubled = 0;
    d->salt = rng_next(&d->rng);
}

/* What the marks have found is not counted again. */
uint64_t tally_end(struct driver *d)
{
    uint64_t ran = tally_sum(&d->tally);
    uint64_t due = d->born - d->lost + d->doubled;
    if (ran < due)
        off(d, &d->lost, due - ran, "%llu of %llu tasks were lost", (unsigned long long)(due - ran),
            (unsigned long long)d->born);
    if (ran > due)
        off(d, &d->doubled, ran - due, "%llu more than %llu tasks ran", (unsigned long long)(ran - due),
            (unsigned long long)d->born);
    filch_add_relaxed(&soak_lost, d->lost);       /* order: a figure */
    filch_add_relaxed(&soak_doubled, d->doubled); /* order: a figure */
    return ran;
}

/* ---- cells --------------------------------------------------------------------------------- */

void cell_init(struct driver *d, uint32_t index, void (*fn)(void *))
{
    struct cell *c = &d->cell[index];
    *c = (struct cell){.driver = d, .given = d->salt ^ index, .index = index, .end = index + 1};
    filch_job_init(&d->job[index], fn, c);
    d->job[index].name = "cell";
}

void cell_run(void *arg)
{
    struct cell *c = arg;
    filch_add_relaxed(&c->runs, 1u); /* order: looked at after the phase's last wait */
    if (c->given != (c->driver->salt ^ c->index))
        tally_wrong(c->driver, "job %u does not see what was written before its submit", c->index);
    c->made = ~c->given;
    tally_count(c->driver);
}

void cell_cleanup(void *arg)
{
    struct cell *c = arg;
    if (c->made != ~c->given)
        tally_wrong(c->driver, "the clean-up of job %u came before the job was over", c->index);
    filch_add_relaxed(&c->cleaned, 1u); /* order: looked at after the phase's last wait */
}

void cell_check(struct driver *d, uint32_t first, uint32_t n, uint32_t cleaned)
{
    for (uint32_t i = first; i < first + n; i++) {
        struct cell *c = &d->cell[i];
        uint32_t runs = filch_load_relaxed(&c->runs), cleanups = filch_load_relaxed(&c->cleaned);
        /* order: above, the phase waited for all */
        once(d, "job", i, runs);
        if (runs == 1 && cleanups != cleaned)
            tally_wrong(d, "job %u was cleaned up %u times, not %u", i, cleanups, cleaned);
        if (runs == 1 && c->made != ~c->given)
            tally_wrong(d, "what job %u made is not seen after the wait", i);
    }
}

/* ---- strangers ----------------------------------------------------------------------------- */

static void *stranger_main(void *arg)
{
    struct stranger *s = arg;
    seam_enter(s->driver->index, s->rng.state);
    s->run(s);
    seam_leave();
    return NULL;
}

uint32_t stranger_start(struct stranger *s, uint32_t n, struct driver *d, void (*run)(struct stranger *),
                        void *arg)
{
    for (uint32_t i = 0; i < n; i++) {
        pthread_t thread;
        s[i] = (struct stranger){.driver = d, .number = i, .arg = arg, .run = run};
        rng_seed(&s[i].rng, rng_next(&d->rng));
        if (pthread_create(&thread, NULL, stranger_main, &s[i]) != 0)
            return i;
        s[i].thread = (uintptr_t)thread;
    }
    return n;
}

void stranger_join(struct stranger *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        (void)pthread_join((pthread_t)s[i].thread, NULL);
}
