/* per_worker.c: a value for each worker of a pool, and one for all threads outside.
 *
 * | field | writer                           | reader         | invariant                            |
 * | value | CAS from null, by who has made it | anyone        | then it stays until destroy          |
 * | the rest | create, before anybody has it; `magic` destroy                                       |
 *
 * [Y1] value: the CAS releases what `make` wrote; a load that finds the value acquires it. A worker's
 *      value is usually looked for by the worker that made it, but its number may belong to another thread
 *      by then (a guest that took the seat), and those outside are many.
 *
 * `make` is the user's and may wait. Then its flow may be on another worker when it is done, and other
 * flows of the first one may ask as well: so it is put where the flow is now, and taken down again if
 * there is one already. Outside, where threads meet as a rule, only one makes it and the others wait.
 */
#include "core/job.h"
#include "core/report.h"
#include "core/run.h"
#include "par/par.h"

#include <filch/par.h>
#include <filch/sync.h>

#define PER_WORKER_MAGIC 0x9e4c0001u
#define PER_WORKER_LINE 128 /* neighbours of one value are those of the same worker: two lines, as fetched */

struct filch_per_worker {
    uint32_t magic;
    filch_pool *pool;              /* whose workers are meant; only compared */
    size_t count;                  /* workers; the value behind theirs is that of all others */
    size_t size;
    void (*make)(void *value, void *arg);
    void (*unmake)(void *value, void *arg);
    void *arg;
    filch_once outside;
    void *value[];
};

static void check_values(const filch_per_worker *v, const char *call)
{
    if (!v || v->magic != PER_WORKER_MAGIC)
        report_misuse(call, "null, or values that were destroyed");
}

int filch_per_worker_create(filch_per_worker **out, filch_pool *pool, size_t size,
                            void (*make)(void *value, void *arg), void (*unmake)(void *value, void *arg),
                            void *arg)
{
    static const char call[] = "filch_per_worker_create";
    if (!out || size == 0 || size > PTRDIFF_MAX)
        report_misuse(call, "nowhere to put it, or values of size 0 or of more than there can be");
    *out = 0;
    pool = job_pool(pool);
    if (!pool)
        return -ENOMEM;
    job_check_pool(pool, call);
    size_t count = (size_t)pool->count;
    filch_per_worker *v = os_alloc(sizeof *v + (count + 1) * sizeof v->value[0]);
    if (!v)
        return -ENOMEM;
    v->magic = PER_WORKER_MAGIC;
    v->pool = pool;
    v->count = count;
    v->size = size;
    v->make = make;
    v->unmake = unmake;
    v->arg = arg;
    *out = v;
    return 0;
}

/* ---- values --------------------------------------------------------------------------------- */

static void *allocate(const filch_per_worker *v)
{
    size_t whole = (v->size + PER_WORKER_LINE - 1) & ~(size_t)(PER_WORKER_LINE - 1);
    return os_alloc_aligned(whole, PER_WORKER_LINE);
}

static void drop(const filch_per_worker *v, void *value)
{
    if (v->unmake)
        v->unmake(value, v->arg);
    os_free(value);
}

/* The place of the caller's, which is another one after a wait. */
static void **place(filch_per_worker *v)
{
    struct worker *w = worker_self();
    return &v->value[w && w->pool == v->pool ? (size_t)w->id : v->count];
}

static void *look(void **at)
{
    return filch_load_acquire(at); /* order: [Y1] */
}

/* Puts it into a place that is empty. */
static bool settle(void **at, void *value)
{
    void *none = 0;
    return filch_cas_acq_rel(at, &none, value); /* order: [Y1] */
}

struct outside {
    filch_per_worker *values;
    void *fresh;
};

static void make_outside(void *box)
{
    struct outside *o = box;
    filch_per_worker *v = o->values;
    if (v->make)
        v->make(o->fresh, v->arg);
    (void)settle(&v->value[v->count], o->fresh);
    o->fresh = 0;
}

static void ask_outside(filch_per_worker *v, void *fresh)
{
    struct outside o = {v, fresh};
    filch_once_run(&v->outside, make_outside, &o);
    os_free(o.fresh); /* another thread was first */
}

static void ask_here(filch_per_worker *v, void *fresh)
{
    if (v->make)
        v->make(fresh, v->arg);
    if (!settle(place(v), fresh))
        drop(v, fresh);
}

void *filch_per_worker_get(filch_per_worker *values)
{
    check_values(values, "filch_per_worker_get");
    void **at, *value;
    while (!(value = look(at = place(values)))) {
        void *fresh = allocate(values);
        if (!fresh)
            return 0;
        if (at == &values->value[values->count])
            ask_outside(values, fresh);
        else
            ask_here(values, fresh);
    }
    return value;
}

void filch_per_worker_each(filch_per_worker *values, void (*fn)(void *value, void *arg), void *arg)
{
    check_values(values, "filch_per_worker_each");
    if (!fn)
        report_misuse("filch_per_worker_each", "null function");
    for (size_t i = 0; i <= values->count; i++) {
        void *value = look(&values->value[i]);
        if (value)
            fn(value, arg);
    }
}

void filch_per_worker_destroy(filch_per_worker *values)
{
    check_values(values, "filch_per_worker_destroy");
    values->magic = 0;
    for (size_t i = 0; i <= values->count; i++) {
        void *value = look(&values->value[i]);
        if (value)
            drop(values, value);
    }
    os_free(values);
}
