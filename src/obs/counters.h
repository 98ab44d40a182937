/* counters.h: one counter per event and worker, always on.
 *
 * | field   | writer      | readers             | invariant                                  |
 * | value[] | its worker  | filch_stats, anyone | only grows; read torn-free, perhaps stale   |
 */
#ifndef FILCH_COUNTERS_H
#define FILCH_COUNTERS_H

#include <filch/ord.h>
#include <stdint.h>

enum event {
#define EVENT(name, column, text) EV_##name,
#include "obs/events.def"
#undef EVENT
    EV_COUNT
};

struct counters {
    uint64_t value[EV_COUNT];
};

static inline void counters_add(struct counters *c, enum event e, uint64_t n)
{
    /* order: one writer, so no read-modify-write; readers want a figure, not an order */
    uint64_t now = filch_load_relaxed(&c->value[e]);
    filch_store_relaxed(&c->value[e], now + n); /* order: as above */
}

static inline uint64_t counters_get(struct counters *c, enum event e)
{
    return filch_load_relaxed(&c->value[e]); /* order: a figure only */
}

#define EV(worker, name) counters_add(&(worker)->counters, EV_##name, 1)
#define EV_N(worker, name, n) counters_add(&(worker)->counters, EV_##name, (uint64_t)(n))

#endif
