#include "core/local.h"
#include "core/report.h"
#include "core/run.h"

#include <errno.h>
#include <filch/task.h>

enum { CHUNK = 14, ROUNDS = 4 }; /* a chunk is two cache lines */

struct chunk {
    struct chunk *next;
    uint32_t base; /* key of the first value */
    void *value[CHUNK];
};

static struct {
    uint32_t created; /* keys 1 .. created, or more if all were used up */
    void (*destroy[FILCH_LOCAL_MAX])(void *value);
} keys;

/* ---- keys --------------------------------------------------------------------------------- */

int filch_local_create(filch_local *key, void (*destroy)(void *value))
{
    if (!key)
        report_misuse("filch_local_create", "null key");
    key->number = 0;
    uint32_t used = filch_load_relaxed(&keys.created); /* order: a ticket, the CAS decides */
    do {
        if (used == FILCH_LOCAL_MAX)
            return -EAGAIN;
    } while (!filch_cas_relaxed(&keys.created, &used, used + 1)); /* order: a ticket */
    keys.destroy[used] = destroy; /* handed over with the key, see local_end */
    key->number = used + 1;
    return 0;
}

static uint32_t index_of(filch_local key, const char *call)
{
    /* order: whoever knows the key knows that it was created */
    if (key.number == 0 || key.number > filch_load_relaxed(&keys.created))
        report_misuse(call, "not a key; use filch_local_create");
    return key.number - 1;
}

/* ---- values ------------------------------------------------------------------------------- */

/* The root of the calling flow, or null outside. Its own jobs may write to it. */
static struct root *root_here(void)
{
    struct fiber *f = run_fiber();
    return f ? (struct root *)f->root : 0;
}

static struct chunk *chunk_of(struct root *r, uint32_t index)
{
    struct chunk *c = filch_load_acquire(&r->locals); /* order: [L1] */
    while (c && index - c->base >= CHUNK)
        c = c->next;
    return c;
}

void *filch_local_get(filch_local key)
{
    uint32_t index = index_of(key, "filch_local_get");
    struct root *r = root_here();
    struct chunk *c = r ? chunk_of(r, index) : 0;
    return c ? filch_load_acquire(&c->value[index - c->base]) : 0; /* order: [L2] */
}

/* Links a new chunk for the key, unless another job of the root was faster. Null: no memory. */
static struct chunk *chunk_make(struct root *r, uint32_t index)
{
    struct chunk *c = os_alloc(sizeof *c), *first = filch_load_acquire(&r->locals), *other; /* order: [L1] */
    if (!c)
        return 0;
    c->base = index / CHUNK * CHUNK;
    do {
        other = chunk_of(r, index);
        if (other) {
            os_free(c);
            return other;
        }
        c->next = first;
    } while (!filch_cas_acq_rel(&r->locals, &first, c)); /* order: [L1] */
    return c;
}

int filch_local_set(filch_local key, void *value)
{
    uint32_t index = index_of(key, "filch_local_set");
    struct root *r = root_here();
    if (!r)
        return -EPERM;
    struct chunk *c = chunk_of(r, index);
    if (!c && !value)
        return 0;
    if (!c)
        c = chunk_make(r, index);
    if (!c)
        return -ENOMEM;
    filch_store_release(&c->value[index - c->base], value); /* order: [L2] */
    return 0;
}

/* ---- end ---------------------------------------------------------------------------------- */

/* Calls the destructors of a chunk's values; how many there were. */
static unsigned destroy_values(struct chunk *c)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < CHUNK; i++) {
        void *value = filch_load_acquire(&c->value[i]); /* order: [L2]; the jobs have ended */
        if (!value)
            continue;
        filch_store_relaxed(&c->value[i], (void *)0); /* order: nobody else is left */
        n++;
        if (keys.destroy[c->base + i])
            keys.destroy[c->base + i](value);
    }
    return n;
}

/* Destructors may set values again: a few rounds, then what is left is let go. */
void local_end(struct root *r)
{
    unsigned n = 1;
    for (int round = 0; round < ROUNDS && n > 0; round++) {
        n = 0;
        for (struct chunk *c = r->locals; c; c = c->next)
            n += destroy_values(c);
    }
    for (struct chunk *c = r->locals, *next; c; c = next) {
        next = c->next;
        os_free(c);
    }
    r->locals = 0;
}
