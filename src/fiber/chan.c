/* chan.c: send, receive, close. The state and its argument: chan.h. */
#include "fiber/chan.h"
#include "core/budget.h"
#include "core/report.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define CHAN_MAGIC 0xf11c4c01u
#define FIRST_ROOM 16 /* of an unbounded channel */
#define KEEP_BYTES 65536 /* it keeps this much when it is empty */

static inline void check_life(const filch_chan *c, const char *call)
{
    if (__builtin_expect(!c || c->magic != CHAN_MAGIC, 0))
        report_misuse(call, "not a channel, or one that was destroyed");
}

void chan_check(const filch_chan *c, const void *item, const char *call)
{
    check_life(c, call);
    if (__builtin_expect(!item && c->item_size > 0, 0))
        report_misuse(call, "null item");
}

/* ---- items: lock held ----------------------------------------------------------------------- */

static inline void copy(void *to, const void *from, size_t size)
{
    switch (size) {
    case 0:
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    default:
        memcpy(to, from, size);
    }
}

static inline void count_set(filch_chan *c, size_t n)
{
    filch_store_relaxed(&c->count, n); /* order: the lock; others read a hint */
}

static inline void ring_put(filch_chan *c, const void *item)
{
    size_t at = c->head + c->count;
    if (at >= c->room)
        at -= c->room;
    copy(c->ring + at * c->item_size, item, c->item_size);
    count_set(c, c->count + 1);
}

static inline void ring_get(filch_chan *c, void *item)
{
    copy(item, c->ring + c->head * c->item_size, c->item_size);
    c->head = c->head + 1 == c->room ? 0 : c->head + 1;
    count_set(c, c->count - 1);
}

/* Into twice the room, from the beginning. Returns the old one. */
static char *ring_move(filch_chan *c, char *wider, size_t room)
{
    char *old = c->ring;
    size_t first = c->room - c->head < c->count ? c->room - c->head : c->count;
    if (c->item_size > 0 && c->count > 0) {
        memcpy(wider, old + c->head * c->item_size, first * c->item_size);
        memcpy(wider + first * c->item_size, old, (c->count - first) * c->item_size);
    }
    c->ring = wider;
    c->room = room;
    c->head = 0;
    return old;
}

static char *ring_alloc(size_t room, size_t item_size)
{
    size_t size;
    if (__builtin_mul_overflow(room, item_size, &size) || size > PTRDIFF_MAX)
        return 0;
    return os_alloc(size ? size : 1);
}

/* Allocates without the lock; another may have been faster. */
static int ring_grow(filch_chan *c)
{
    size_t room = c->room;
    lock_release(&c->lock);
    char *spare = ring_alloc(2 * room, c->item_size);
    lock_acquire(&c->lock);
    if (!spare)
        return -ENOMEM;
    if (c->room == room)
        spare = ring_move(c, spare, 2 * room);
    if (spare == c->first)
        spare = 0; /* for when it is empty again */
    lock_release(&c->lock);
    os_free(spare);
    lock_acquire(&c->lock);
    return 0;
}

/* Lock held, and it is empty. Returns the wide one, to be freed: the channel may be gone by then. */
static char *ring_shrink(filch_chan *c)
{
    char *wide = c->ring;
    c->ring = c->first;
    c->room = FIRST_ROOM;
    c->head = 0;
    return wide;
}

/* ---- steps: lock held ----------------------------------------------------------------------- */

/* The first waiter whose wait nothing else has ended. From here on it is ours. */
static struct chan_waiter *claim_first(filch_chan *c, enum filch_op op)
{
    struct wait_node *n;
    while ((n = wait_list_pop(&c->waiting[op]))) {
        struct chan_waiter *w = (struct chan_waiter *)n;
        enum wait_claim was = wait_node_claim(n);
        if (was != WAIT_LOST) {
            w->was = was;
            w->result = 0;
            return w;
        }
    }
    return 0;
}

static inline int send_step(filch_chan *c, const void *item, struct chan_waiter **served)
{
    if (c->closed)
        return -EPIPE;
    if (c->waiting[FILCH_RECV].head && (*served = claim_first(c, FILCH_RECV))) {
        copy((*served)->item, item, c->item_size);
        return 0;
    }
    if (c->count == c->room)
        return CHAN_NOT_NOW;
    ring_put(c, item);
    return 0;
}

static inline int recv_step(filch_chan *c, void *item, struct chan_waiter **served)
{
    if (c->count > 0) {
        ring_get(c, item);
        if (c->waiting[FILCH_SEND].head && (*served = claim_first(c, FILCH_SEND)))
            ring_put(c, (*served)->item);
        return 0;
    }
    if (c->waiting[FILCH_SEND].head && (*served = claim_first(c, FILCH_SEND))) {
        copy(item, (*served)->item, c->item_size);
        return 0;
    }
    return c->closed ? -EPIPE : CHAN_NOT_NOW;
}

static inline int step(filch_chan *c, enum filch_op op, void *item, struct chan_waiter **served)
{
    if (op == FILCH_RECV)
        return recv_step(c, item, served);
    int rc = send_step(c, item, served);
    while (rc == CHAN_NOT_NOW && c->capacity == FILCH_UNBOUNDED) {
        rc = ring_grow(c);
        if (rc == 0)
            rc = send_step(c, item, served);
    }
    return rc;
}

int chan_step(filch_chan *c, enum filch_op op, void *item, struct chan_waiter **served)
{
    return step(c, op, item, served);
}

/* ---- waiting -------------------------------------------------------------------------------- */

void chan_leave(filch_chan *c, enum filch_op op, struct chan_waiter *w)
{
    lock_acquire(&c->lock);
    if (wait_list_has(&w->node)) /* else who took it out has tried to claim it, and is done with it */
        wait_list_unlink(&c->waiting[op], &w->node);
    lock_release(&c->lock);
}

static const struct wait_subject about_turn[] = {
    [FILCH_SEND] = {"filch_chan_send", "channel", WAIT_FOR_OBJECT, offsetof(filch_chan, name), 0},
    [FILCH_RECV] = {"filch_chan_recv", "channel", WAIT_FOR_OBJECT, offsetof(filch_chan, name), 0},
};

/* Lock held; without it on return. */
static __attribute__((noinline)) int wait_turn(struct worker *at, filch_chan *c, enum filch_op op, void *item,
                                               int64_t deadline)
{
    struct wait w;
    struct chan_waiter me = {.node.wait = &w, .item = item};
    wait_begin_at(at, &w);
    wait_about(&w, &about_turn[op], c);
    wait_list_add(&c->waiting[op], &me.node);
    int why = wait_park_holding(at, &w, &c->lock, deadline);
    if (why >= 0)
        return me.result;
    chan_leave(c, op, &me);
    return wait_error(why);
}

static inline int act(filch_chan *c, enum filch_op op, void *item, int64_t deadline)
{
    struct chan_waiter *served = 0;
    struct worker *me = worker_self();
    lock_acquire(&c->lock);
    int rc = step(c, op, item, &served);
    if (rc == CHAN_NOT_NOW && deadline > FILCH_NOW)
        return wait_turn(me, c, op, item, deadline);
    char *wide = c->count == 0 && c->room > c->keep ? ring_shrink(c) : 0;
    lock_release(&c->lock);
    if (wide)
        os_free(wide);
    chan_resume(me, served);
    if (rc == CHAN_NOT_NOW)
        return wait_error(WAIT_TIMEOUT);
    budget_spend_at(me);
    return rc;
}

int filch_chan_send(filch_chan *c, const void *item, int64_t deadline)
{
    chan_check(c, item, "filch_chan_send");
    return act(c, FILCH_SEND, (void *)(uintptr_t)item, deadline);
}

int filch_chan_recv(filch_chan *c, void *item, int64_t deadline)
{
    chan_check(c, item, "filch_chan_recv");
    return act(c, FILCH_RECV, item, deadline);
}

/* ---- close ---------------------------------------------------------------------------------- */

/* Lock held: claims all of a list, linked by `next` in front of `rest`. */
static struct wait_node *claim_all(filch_chan *c, enum filch_op op, struct wait_node *rest)
{
    struct chan_waiter *w;
    while ((w = claim_first(c, op))) {
        w->result = -EPIPE;
        w->node.next = rest;
        rest = &w->node;
    }
    return rest;
}

void filch_chan_close(filch_chan *c)
{
    check_life(c, "filch_chan_close");
    lock_acquire(&c->lock);
    c->closed = 1;
    struct wait_node *n = claim_all(c, FILCH_SEND, claim_all(c, FILCH_RECV, 0));
    lock_release(&c->lock);
    while (n) {
        struct wait_node *next = n->next; /* read before its flow goes on and is gone */
        chan_resume(worker_self(), (struct chan_waiter *)n);
        n = next;
    }
}

/* ---- life ----------------------------------------------------------------------------------- */

int filch_chan_create(filch_chan **out, size_t item_size, size_t capacity)
{
    if (!out)
        report_misuse("filch_chan_create", "null result pointer");
    *out = 0;
    filch_chan *c = os_alloc_aligned(sizeof *c, 64);
    if (!c)
        return -ENOMEM;
    size_t room = capacity == FILCH_UNBOUNDED ? FIRST_ROOM : capacity;
    *c = (filch_chan){.room = room, .item_size = item_size, .capacity = capacity, .magic = CHAN_MAGIC};
    c->ring = room > 0 ? ring_alloc(room, item_size) : 0;
    c->first = capacity == FILCH_UNBOUNDED ? c->ring : 0;
    c->keep = capacity == FILCH_UNBOUNDED && item_size > 0 ? KEEP_BYTES / item_size + FIRST_ROOM : SIZE_MAX;
    if (room > 0 && !c->ring) {
        os_free(c);
        return -ENOMEM;
    }
    *out = c;
    return 0;
}

void filch_chan_destroy(filch_chan *c)
{
    if (!c)
        return;
    check_life(c, "filch_chan_destroy");
    lock_acquire(&c->lock); /* see what the last user left */
    bool waited = c->waiting[FILCH_SEND].head || c->waiting[FILCH_RECV].head;
    lock_release(&c->lock);
    if (waited)
        report_misuse("filch_chan_destroy", "somebody waits at it; close it and let them return");
    c->magic = 0;
    if (c->first != c->ring)
        os_free(c->first);
    os_free(c->ring);
    os_free(c);
}

size_t filch_chan_length(const filch_chan *c)
{
    check_life(c, "filch_chan_length");
    return filch_load_relaxed(&c->count); /* order: a hint */
}

size_t filch_chan_capacity(const filch_chan *c)
{
    check_life(c, "filch_chan_capacity");
    return c->capacity;
}

const char *filch_chan_name(const filch_chan *c)
{
    check_life(c, "filch_chan_name");
    return filch_load_acquire(&c->name); /* order: with the store below: the text */
}

void filch_chan_rename(filch_chan *c, const char *name)
{
    check_life(c, "filch_chan_rename");
    filch_store_release(&c->name, name); /* order: the text is seen by who reads the name */
}
