/* memory.c: what a load may return.
 *
 * The stores to a word are a list in their modification order. A thread's view holds, per word, the
 * oldest store that it may still read: coherence. A release store carries the view of its thread, and
 * whoever acquires it joins it: happens-before. A relaxed store carries the view of the last release
 * fence; a relaxed load keeps what it did not acquire for a later acquire fence. A read-modify-write
 * reads the newest store and hands on the view of the one that it replaced (release sequences).
 * Sequentially consistent fences join and publish one view of all; sequentially consistent accesses
 * do so for their own word. membarrier is such a fence by every thread.
 *
 * This is RC11 but for two things. The order of sequentially consistent steps is the order in which
 * they are executed (so an execution whose order of them contradicts program order plus reads-from
 * is not seen), and stores are put last in the order of their word unless the model asks for
 * old_stores. Loads that return a value from the future (load buffering) RC11 forbids and hardware
 * does not: mc_late.
 */
#include "mc_internal.h"

#include <string.h>

enum { GAP = 1024 }; /* between the places of two stores, for those put in between */

/* ---- views --------------------------------------------------------------------------------- */

static uint32_t view_get(const struct view *v, int loc)
{
    return (uint32_t)loc < v->n ? v->ts[loc] : 0;
}

static void view_raise(struct view *v, int loc, uint32_t ts)
{
    while (v->n <= (uint32_t)loc)
        v->ts[v->n++] = 0;
    if (v->ts[loc] < ts)
        v->ts[loc] = ts;
}

static void join_words(struct view *into, const struct view *from)
{
    while (into->n < from->n)
        into->ts[into->n++] = 0;
    for (uint32_t i = 0; i < from->n; i++) /* without branches: many words, by the vector */
        into->ts[i] = into->ts[i] < from->ts[i] ? from->ts[i] : into->ts[i];
}

void mc_view_join(struct view *into, const struct view *from)
{
    for (int i = 0; i < MC_THREADS; i++)
        if (into->clock[i] < from->clock[i])
            into->clock[i] = from->clock[i];
    join_words(into, from);
}

static void view_copy(struct view *to, const struct view *from)
{
    memcpy(to, from, offsetof(struct view, ts) + from->n * sizeof from->ts[0]);
}

/* A copy that lasts for this execution, with one more view joined. */
static const struct view *view_keep(const struct view *v, const struct view *more)
{
    static const struct view nothing;
    if (!v)
        v = &nothing;
    uint32_t n = more && more->n > v->n ? more->n : v->n;
    size_t size = (offsetof(struct view, ts) + n * sizeof v->ts[0] + 7) & ~(size_t)7;
    if (mc->views_used + size > MC_VIEW_BYTES)
        mc_fail("too many stores in one execution: make the model smaller");
    struct view *kept = (struct view *)(mc->views + mc->views_used);
    mc->views_used += size;
    view_copy(kept, v);
    if (more)
        mc_view_join(kept, more);
    return kept;
}

/* ---- words that matter: learned over all executions of a model ----------------------------- */

struct known *mc_known(const void *p)
{
    size_t i = ((uintptr_t)p >> 2) * 0x9e3779b1u % MC_KNOWN;
    while (mc->known[i].address && mc->known[i].address != (uintptr_t)p)
        i = (i + 1) % MC_KNOWN;
    mc->known[i].address = (uintptr_t)p;
    return &mc->known[i];
}

bool mc_conflicts(const void *p)
{
    return mc->every_step || mc_known(p)->shared;
}

void mc_note_conflict(const void *p)
{
    struct known *k = mc_known(p);
    if (!k->shared)
        mc->grew = true;
    k->shared = true;
}

static void note_value(const void *p, uint64_t value)
{
    if (mc->lates == 0)
        return;
    struct known *k = mc_known(p);
    uint8_t me = (uint8_t)(1u << mc->current);
    int i = 0;
    while (i < k->values && k->value[i] != value)
        i++;
    if (i == MC_FUTURE || (i < k->values && (k->by[i] & me)))
        return;
    if (i == k->values)
        k->by[k->values++] = 0;
    k->value[i] = value;
    k->by[i] |= me;
    mc->grew = true;
}

/* ---- words --------------------------------------------------------------------------------- */

void mc_memory_reset(void)
{
    mc->locs = mc->stores = 0;
    mc->views_used = 0;
    mc->sc.n = 0;
}

static uint64_t memory_get(const void *p, unsigned size)
{
    if (size == 8)
        return *(const uint64_t *)p;
    if (size == 4)
        return *(const uint32_t *)p;
    return *(const uint8_t *)p;
}

static void memory_put(void *p, unsigned size, uint64_t value)
{
    if (size == 8)
        *(uint64_t *)p = value;
    else if (size == 4)
        *(uint32_t *)p = (uint32_t)value;
    else
        *(uint8_t *)p = (uint8_t)value;
}

static struct store *store_add(struct loc *l, uint64_t value, uint32_t ts, int prev)
{
    if (mc->stores == MC_STORES)
        mc_fail("too many stores in one execution: make the model smaller");
    struct store *s = &mc->store[mc->stores++];
    *s = (struct store){.value = value, .ts = ts, .prev = prev, .thread = -1};
    if (prev == l->newest)
        l->newest = (int)(s - mc->store);
    return s;
}

static struct store *newest(struct loc *l)
{
    return &mc->store[l->newest];
}

static int loc_make(const void *p, unsigned size)
{
    if (mc->locs == MC_LOCS)
        mc_fail("too many shared words: make the model smaller");
    struct loc *l = &mc->loc[mc->locs++];
    *l = (struct loc){.address = (uintptr_t)p, .size = size, .newest = -1};
    store_add(l, memory_get(p, size), GAP, -1);
    return (int)(l - mc->loc);
}

static int loc_of(const void *p, unsigned size)
{
    struct cell *c = mc_cell((uintptr_t)p, true);
    if (!c->loc)
        c->loc = 1 + loc_make(p, size);
    struct loc *l = &mc->loc[c->loc - 1];
    if (l->dirty) {
        l->dirty = false;
        store_add(l, memory_get(p, size), newest(l)->ts + GAP, l->newest);
        l->plain_ts = newest(l)->ts;
    }
    return c->loc - 1;
}

/* ---- loads --------------------------------------------------------------------------------- */

static bool acquires(enum mc_order o)
{
    return o == MC_ACQUIRE || o == MC_ACQ_REL || o == MC_SEQ_CST;
}

static bool releases(enum mc_order o)
{
    return o == MC_RELEASE || o == MC_ACQ_REL || o == MC_SEQ_CST;
}

/* The oldest store that may be read. */
static uint32_t oldest_for(const struct thread *t, int loc, enum mc_order order)
{
    uint32_t ts = view_get(&t->cur, loc);
    if (order == MC_SEQ_CST && view_get(&mc->sc, loc) > ts)
        ts = view_get(&mc->sc, loc);
    return ts > mc->loc[loc].plain_ts ? ts : mc->loc[loc].plain_ts;
}

static bool stale_allowed(void)
{
    int most = mc->model->stale;
    return most == 0 || most == MC_UNBOUNDED || (most > 0 && mc->stale < most);
}

static void read_from(struct thread *t, int loc, const struct store *s, enum mc_order order)
{
    view_raise(&t->cur, loc, s->ts);
    if (s->view) {
        mc_view_join(&t->acq, s->view);
        if (acquires(order))
            mc_view_join(&t->cur, s->view);
    }
}

static bool may_be_late(const void *p)
{
    for (int i = 0; i < mc->lates; i++)
        if ((const char *)p >= mc->late[i].p && (const char *)p < mc->late[i].p + mc->late[i].size)
            return true;
    return false;
}

/* Values that others store here at some time, and that cannot be read yet. */
static unsigned future_values(const void *p, const uint64_t *now, unsigned n, uint64_t *values)
{
    unsigned count = 0;
    struct known *k = mc_known(p);
    for (int i = 0; i < k->values; i++) {
        bool there = !(k->by[i] & ~(1u << mc->current)); /* own stores come in program order */
        for (unsigned j = 0; j < n; j++)
            there |= now[j] == k->value[i];
        if (!there)
            values[count++] = k->value[i];
    }
    return count;
}

uint64_t mc_load(const void *p, unsigned size, enum mc_order order, const struct mc_site *site)
{
    if (!mc || !mc->running)
        return memory_get(p, size);
    struct op op = {.kind = OP_LOAD, .address = p, .order = order};
    mc_step(&op);
    struct thread *t = mc_me();
    int loc = loc_of(p, size);
    mc_atomic_access(p, size, false, site);
    int readable[64];
    uint64_t values[64], future[MC_FUTURE];
    unsigned n = 0, futures = 0;
    uint32_t oldest = oldest_for(t, loc, order);
    for (int s = mc->loc[loc].newest; s >= 0 && n < 64; s = mc->store[s].prev) {
        if (mc->store[s].ts < oldest)
            break;
        values[n] = mc->store[s].value;
        readable[n++] = s;
        if (!stale_allowed())
            break;
    }
    if (order == MC_RELAXED && mc->lates > 0 && mc->pendings < 16 && may_be_late(p))
        futures = future_values(p, values, n, future);
    unsigned taken = t->spin_out > 0 ? n - 1 : mc_pick(CHOOSE_STORE, n + futures);
    struct step *step = mc_record(site, "load");
    step->order = order;
    step->flags = STEP_AFTER | STEP_ORDER;
    if (taken >= n) {
        mc->pending[mc->pendings++] = (struct pending){mc->current, loc, future[taken - n], false};
        step->flags |= STEP_LATE;
        step->after = future[taken - n];
        return step->after;
    }
    if (taken > 0) {
        mc->stale += t->spin_out == 0;
        step->flags |= STEP_OLD;
    }
    read_from(t, loc, &mc->store[readable[taken]], order);
    step->after = values[taken];
    return values[taken];
}

/* For the kernel, which looks at memory itself. */
uint64_t mc_newest(const void *p, unsigned size)
{
    int loc = loc_of(p, size);
    view_raise(&mc_me()->cur, loc, newest(&mc->loc[loc])->ts);
    return newest(&mc->loc[loc])->value;
}

/* ---- stores -------------------------------------------------------------------------------- */

/* A release: what came before it in the program is over, late loads included. */
static void before_release(void)
{
    for (int i = 0; i < mc->pendings; i++)
        if (mc->pending[i].thread == mc->current && !mc->pending[i].fulfilled)
            mc_end(END_DISCARDED);
}

static void fulfil(int loc, uint64_t value)
{
    for (int i = 0; i < mc->pendings; i++)
        if (mc->pending[i].loc == loc && mc->pending[i].value == value &&
            mc->pending[i].thread != mc->current)
            mc->pending[i].fulfilled = true;
}

/* Where in the order of the word: last, or with old_stores before any that the thread has not
 * seen. Returns the store that it comes after, and the one it comes before or -1. */
static int place_of(struct thread *t, int loc, enum mc_order order, int *before)
{
    struct loc *l = &mc->loc[loc];
    *before = -1;
    if (!mc->model->old_stores || order == MC_SEQ_CST)
        return l->newest;
    int after[64], behind[64];
    unsigned n = 0;
    uint32_t oldest = oldest_for(t, loc, order);
    for (int s = l->newest, next = -1; s >= 0 && n < 64; next = s, s = mc->store[s].prev) {
        if (next < 0 || !mc->store[next].rmw) {
            behind[n] = next;
            after[n++] = s;
        }
        if (mc->store[s].ts <= oldest)
            break;
    }
    unsigned taken = mc_pick(CHOOSE_PLACE, n);
    *before = behind[taken];
    return after[taken];
}

static void write(int loc, struct store *s, enum mc_order order, const struct view *replaced)
{
    struct thread *t = mc_me();
    if (releases(order))
        before_release();
    s->thread = mc->current;
    view_raise(&t->cur, loc, s->ts);
    const struct view *own = releases(order) ? &t->cur : t->released ? &t->rel : 0;
    if (own || replaced)
        s->view = view_keep(own, replaced);
    if (order == MC_SEQ_CST)
        view_raise(&mc->sc, loc, s->ts);
    t->cur.clock[mc->current]++;
    fulfil(loc, s->value);
}

static void write_last(int loc, void *p, unsigned size, uint64_t value, enum mc_order order,
                       const struct view *replaced, bool rmw)
{
    struct loc *l = &mc->loc[loc];
    struct store *s = store_add(l, value, newest(l)->ts + GAP, l->newest);
    s->rmw = rmw;
    write(loc, s, order, replaced);
    memory_put(p, size, value);
    note_value(p, value);
}

static uint64_t cut_to(unsigned size, uint64_t value)
{
    return size == 8 ? value : size == 4 ? (uint32_t)value : (uint8_t)value;
}

void mc_store(void *p, unsigned size, uint64_t value, enum mc_order order, const struct mc_site *site)
{
    value = cut_to(size, value);
    if (!mc || !mc->running) {
        memory_put(p, size, value);
        return;
    }
    struct op op = {.kind = OP_STORE, .address = p, .order = order};
    mc_step(&op);
    int loc = loc_of(p, size), before;
    mc_atomic_access(p, size, true, site);
    struct step *step = mc_record(site, "store");
    *step = (struct step){.thread = mc->current, .site = site, .what = "store", .after = value,
                          .order = order, .flags = STEP_AFTER | STEP_ORDER};
    int after = place_of(mc_me(), loc, order, &before);
    if (before < 0) {
        write_last(loc, p, size, value, order, 0, false);
        return;
    }
    uint32_t ts = mc->store[after].ts + (mc->store[before].ts - mc->store[after].ts) / 2;
    struct store *s = store_add(&mc->loc[loc], value, ts, after);
    mc->store[before].prev = (int)(s - mc->store);
    step->flags |= STEP_OLD;
    write(loc, s, order, 0);
}

/* ---- read-modify-writes --------------------------------------------------------------------- */

enum how { EXCHANGE, ADD, OR };

static uint64_t modified(enum how how, uint64_t old, uint64_t value)
{
    return how == ADD ? old + value : how == OR ? old | value : value;
}

static uint64_t modify(void *p, unsigned size, uint64_t value, enum how how, enum mc_order order,
                       const struct mc_site *site)
{
    struct op op = {.kind = OP_RMW, .address = p, .order = order};
    mc_step(&op);
    int loc = loc_of(p, size);
    mc_atomic_access(p, size, true, site);
    struct store *s = newest(&mc->loc[loc]);
    uint64_t old = s->value, now = cut_to(size, modified(how, old, value));
    const struct view *replaced = s->view;
    read_from(mc_me(), loc, s, order);
    write_last(loc, p, size, now, order, replaced, true);
    static const char *const name[] = {"exchange", "add", "or"};
    struct step *step = mc_record(site, name[how]);
    step->before = old;
    step->after = now;
    step->order = order;
    step->flags = STEP_BEFORE | STEP_AFTER | STEP_ORDER;
    return old;
}

static uint64_t modify_if_shared(void *p, unsigned size, uint64_t value, enum how how, enum mc_order order,
                                 const struct mc_site *site)
{
    if (mc && mc->running)
        return modify(p, size, value, how, order, site);
    uint64_t old = memory_get(p, size);
    memory_put(p, size, modified(how, old, value));
    return old;
}

uint64_t mc_xchg(void *p, unsigned size, uint64_t value, enum mc_order order, const struct mc_site *site)
{
    return modify_if_shared(p, size, value, EXCHANGE, order, site);
}

uint64_t mc_add(void *p, unsigned size, uint64_t value, enum mc_order order, const struct mc_site *site)
{
    return modify_if_shared(p, size, value, ADD, order, site);
}

uint64_t mc_or(void *p, unsigned size, uint64_t value, enum mc_order order, const struct mc_site *site)
{
    return modify_if_shared(p, size, value, OR, order, site);
}

static enum mc_order order_of_failure(enum mc_order order)
{
    if (order == MC_SEQ_CST)
        return order;
    return acquires(order) ? MC_ACQUIRE : MC_RELAXED;
}

static bool cas_step(const struct mc_site *site, enum mc_order order, uint64_t found, uint64_t value,
                     bool ok, bool old)
{
    struct step *step = mc_record(site, "cas");
    step->order = order;
    step->before = found;
    step->after = value;
    step->flags = (uint8_t)(STEP_BEFORE | STEP_AFTER | STEP_ORDER | (ok ? 0 : STEP_FAILED) |
                            (old ? STEP_OLD : 0));
    return ok;
}

bool mc_cas(void *p, unsigned size, void *old, uint64_t value, enum mc_order order, bool weak,
            const struct mc_site *site)
{
    uint64_t expected = memory_get(old, size);
    if (!mc || !mc->running) {
        bool same = memory_get(p, size) == expected;
        memory_put(same ? p : old, size, same ? value : memory_get(p, size));
        return same;
    }
    struct op op = {.kind = OP_RMW, .address = p, .order = order};
    mc_step(&op);
    struct thread *t = mc_me();
    int loc = loc_of(p, size);
    struct store *last = newest(&mc->loc[loc]);
    enum mc_order failure = order_of_failure(order);
    uint32_t oldest = oldest_for(t, loc, failure);
    int options[64];
    unsigned n = 0;
    options[n++] = mc->loc[loc].newest; /* succeeds if it is as expected */
    if (weak && last->value == expected && mc->spurious < 1 && mc->model->spurious != MC_ZERO)
        options[n++] = mc->loc[loc].newest; /* and fails all the same */
    for (int s = last->prev; stale_allowed() && s >= 0 && n < 64; s = mc->store[s].prev) {
        if (mc->store[s].ts < oldest)
            break;
        if (mc->store[s].value != expected)
            options[n++] = s;
    }
    unsigned taken = mc_pick(CHOOSE_STORE, n);
    struct store *s = &mc->store[options[taken]];
    bool ok = taken == 0 && s->value == expected;
    mc_atomic_access(p, size, ok, site);
    if (ok) {
        const struct view *replaced = s->view;
        read_from(t, loc, s, order);
        write_last(loc, p, size, cut_to(size, value), order, replaced, true);
        return cas_step(site, order, expected, value, true, false);
    }
    if (s == last && s->value == expected)
        mc->spurious++;
    else if (taken > 0)
        mc->stale++;
    read_from(t, loc, s, failure);
    memory_put(old, size, s->value);
    return cas_step(site, order, s->value, value, false, taken > 0);
}

/* ---- fences --------------------------------------------------------------------------------- */

static void fence_by(struct thread *t, enum mc_order order)
{
    if (acquires(order))
        mc_view_join(&t->cur, &t->acq);
    if (order == MC_SEQ_CST) {
        join_words(&t->cur, &mc->sc);
        join_words(&mc->sc, &t->cur);
    }
    if (releases(order)) {
        view_copy(&t->rel, &t->cur);
        t->released = true;
        t->cur.clock[t - mc->thread]++;
    }
}

void mc_fence(enum mc_order order, const struct mc_site *site)
{
    if (!mc || !mc->running)
        return;
    struct op op = {.kind = OP_FENCE, .order = order};
    mc_step(&op);
    if (releases(order))
        before_release();
    struct step *step = mc_record(site, "fence");
    step->order = order;
    step->flags = STEP_ORDER;
    fence_by(mc_me(), order);
}

/* membarrier: the caller's own barrier, one in every thread, and the caller's again. */
void mc_fence_all(void)
{
    before_release();
    fence_by(mc_me(), MC_SEQ_CST);
    for (int i = 0; i < mc->threads; i++)
        if (i != mc->current) /* one that has ended went through the kernel */
            fence_by(&mc->thread[i], MC_SEQ_CST);
    fence_by(mc_me(), MC_SEQ_CST);
}

/* A thread that spins does not read an old value for ever: what was newest at its last pause is the
 * oldest that it reads after this one. */
void mc_fair(struct thread *t)
{
    join_words(&t->cur, &t->mark);
    for (int i = 0; i < mc->locs; i++)
        view_raise(&t->mark, i, newest(&mc->loc[i])->ts);
}
