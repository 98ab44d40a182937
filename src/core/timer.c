#include "core/timer.h"

#include <string.h>

static int64_t tick_up(int64_t ns)
{
    int64_t unit = (int64_t)1 << TIMER_SHIFT;
    return ns > INT64_MAX - unit ? INT64_MAX >> TIMER_SHIFT : (ns + unit - 1) >> TIMER_SHIFT;
}

void timers_init(struct timers *s, int64_t now_ns)
{
    s->now = now_ns >> TIMER_SHIFT;
    filch_store_relaxed(&s->next_ns, INT64_MAX); /* order: not shared yet */
    filch_store_relaxed(&s->wake_ns, INT64_MAX); /* order: as above */
}

void timers_reset(struct timers *s, int64_t now_ns)
{
    *s = (struct timers){0};
    timers_init(s, now_ns);
}

/* The level whose slots tell this distance apart. */
static unsigned level_of(uint64_t distance)
{
    unsigned level = distance < TIMER_SLOTS ? 0 : (63 - (unsigned)__builtin_clzll(distance)) / 6;
    return level < TIMER_LEVELS ? level : TIMER_LEVELS - 1;
}

/* Lock held. From now on it is found when its slot comes round. */
static void put(struct timers *s, struct timer *t)
{
    int64_t tick = t->tick > s->now ? t->tick : s->now + 1;
    uint64_t farthest = ((uint64_t)1 << (6 * TIMER_LEVELS)) - 1;
    uint64_t distance = (uint64_t)(tick - s->now);
    if (distance > farthest) {
        distance = farthest;
        tick = s->now + (int64_t)farthest;
    }
    unsigned level = level_of(distance);
    unsigned slot = (unsigned)(tick >> (6 * level)) % TIMER_SLOTS;
    struct timer **head = &s->slot[level][slot][s->lane++ % TIMER_LANES];
    t->prev = (struct timer *)head; /* not null, and never followed: see take */
    t->next = *head;
    if (t->next)
        t->next->prev = t;
    *head = t;
    s->used[level] |= (uint64_t)1 << slot;
}

static bool slot_empty(struct timer *const *lane)
{
    struct timer *any = 0;
    for (int i = 0; i < TIMER_LANES && !any; i++)
        any = lane[i];
    return !any;
}

/* Lock held. */
static void take(struct timer *t)
{
    struct timers *s = t->home;
    struct timer **first = s->slot[0][0], **end = first + TIMER_LEVELS * TIMER_SLOTS * TIMER_LANES;
    struct timer **head = (struct timer **)t->prev;
    if (head >= first && head < end) {
        ptrdiff_t slot = (head - first) / TIMER_LANES;
        *head = t->next;
        if (slot_empty(first + slot * TIMER_LANES))
            s->used[slot / TIMER_SLOTS] &= ~((uint64_t)1 << (slot % TIMER_SLOTS));
    } else {
        t->prev->next = t->next;
    }
    if (t->next)
        t->next->prev = t->prev;
    t->next = t->prev = 0;
}

/* Lock held. The slots of this level that have timers: bit 0 is the one after the present. */
static uint64_t ahead_of(struct timers *s, unsigned level)
{
    unsigned turn = (unsigned)((s->now >> (6 * level)) + 1) % TIMER_SLOTS;
    uint64_t ahead = s->used[level] >> turn;
    return turn ? ahead | s->used[level] << (TIMER_SLOTS - turn) : ahead;
}

/* Lock held. The first tick after `now` at which a slot of this level begins that has timers. */
static int64_t next_at(struct timers *s, unsigned level)
{
    if (!s->used[level])
        return INT64_MAX >> TIMER_SHIFT;
    int64_t here = s->now >> (6 * level);
    return (here + 1 + __builtin_ctzll(ahead_of(s, level))) << (6 * level);
}

/* Lock held. The last of those that follow the first one soon. */
static int64_t last_soon(struct timers *s, int64_t first)
{
    uint64_t offset = (uint64_t)(first - s->now - 1);
    uint64_t soon = offset < TIMER_SLOTS ? ahead_of(s, 0) >> offset : 0;
    soon &= ((uint64_t)2 << TIMER_SLACK) - 1;
    return soon ? first + 63 - __builtin_clzll(soon) : first;
}

static int64_t next_tick(struct timers *s)
{
    int64_t best = INT64_MAX >> TIMER_SHIFT;
    for (unsigned level = 0; level < TIMER_LEVELS; level++) {
        int64_t at = next_at(s, level);
        best = at < best ? at : best;
    }
    return best;
}

static int64_t tick_ns(int64_t tick)
{
    return tick >= INT64_MAX >> TIMER_SHIFT ? INT64_MAX : tick << TIMER_SHIFT;
}

static void note_next(struct timers *s, int64_t tick)
{
    filch_store_relaxed(&s->next_ns, tick_ns(tick)); /* order: the lock; [M1] */
    filch_store_relaxed(&s->wake_ns, tick_ns(last_soon(s, tick))); /* order: as above */
}

void timers_add(struct timers *s, struct timer *t, int64_t deadline)
{
    lock_acquire(&s->lock);
    t->home = s;
    t->tick = tick_up(deadline);
    put(s, t);
    s->count++;
    int64_t at = t->tick > s->now ? t->tick : s->now + 1;
    if (at << TIMER_SHIFT < s->next_ns)
        note_next(s, at);
    lock_release(&s->lock);
}

bool timers_cancel(struct timer *t)
{
    struct timers *s = t->home;
    lock_acquire(&s->lock);
    bool there = t->prev != 0;
    if (there) {
        take(t);
        s->count--;
        if (s->count == 0)
            note_next(s, INT64_MAX >> TIMER_SHIFT); /* else early is good enough */
    }
    lock_release(&s->lock);
    return there;
}

/* Lock held. Its turn has come: it is due, or belongs to a lower level. True if it was fired. */
static bool turn(struct timers *s, struct timer *t)
{
    t->next = t->prev = 0;
    if (t->tick > s->now) {
        put(s, t);
        return false;
    }
    s->count--;
    t->fire(t); /* and it may be gone */
    return true;
}

/* Lock held. Everything in the slot that begins now. */
static size_t turn_slot(struct timers *s, unsigned level)
{
    size_t fired = 0;
    unsigned slot = (unsigned)(s->now >> (6 * level)) % TIMER_SLOTS;
    struct timer *lane[TIMER_LANES];
    memcpy(lane, s->slot[level][slot], sizeof lane);
    memset(s->slot[level][slot], 0, sizeof lane);
    s->used[level] &= ~((uint64_t)1 << slot);
    while (!slot_empty(lane))
        for (int i = 0; i < TIMER_LANES; i++) {
            struct timer *t = lane[i];
            if (!t)
                continue;
            lane[i] = t->next;
            filch_prefetch(t->next);
            fired += turn(s, t);
        }
    return fired;
}

size_t timers_run(struct timers *s, int64_t now_ns)
{
    size_t fired = 0;
    int64_t now = now_ns >> TIMER_SHIFT;
    lock_acquire(&s->lock);
    while (s->count > 0) {
        int64_t at = next_tick(s);
        if (at > now)
            break;
        s->now = at;
        for (unsigned level = TIMER_LEVELS; level-- > 0;)
            if ((at & (((int64_t)1 << (6 * level)) - 1)) == 0)
                fired += turn_slot(s, level);
    }
    if (now > s->now)
        s->now = now;
    note_next(s, s->count > 0 ? next_tick(s) : INT64_MAX >> TIMER_SHIFT);
    lock_release(&s->lock);
    return fired;
}
