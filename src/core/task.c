#include "core/task.h"

enum { SLAB_TASKS = 1023 };

#define AHEAD 8 /* free ones that are fetched before they are taken */

struct task_slab {
    struct task_slab *next;
    size_t used;
    char pad[48];
    filch_task task[SLAB_TASKS];
};

/* Lock held. */
static filch_task *carve(struct task_store *s)
{
    while (s->carving && s->carving->used == SLAB_TASKS)
        s->carving = s->carving->next;
    if (!s->carving) {
        struct task_slab *slab = os_alloc_aligned(sizeof *slab, 64);
        if (!slab)
            return 0;
        slab->next = s->slabs;
        s->carving = slab;
        filch_store_release(&s->slabs, slab); /* order: pairs with task_each */
    }
    size_t used = s->carving->used;
    filch_store_relaxed(&s->carving->used, used + 1); /* order: the lock; a hint to task_each */
    return &s->carving->task[used];
}

/* Lock held. */
static filch_task *loose_or_new(struct task_store *s)
{
    filch_task *t = s->loose;
    if (!t)
        return carve(s);
    s->loose = (filch_task *)t->link;
    return t;
}

/* Lock held. Null: no memory. */
static struct task_box *empty_box(struct task_store *s)
{
    struct task_box *b = s->empty;
    if (b) {
        s->empty = b->next;
    } else if ((b = os_alloc(sizeof *b))) {
        b->older = s->boxes;
        s->boxes = b;
    }
    return b;
}

/* Lock held. */
static void put_box(struct task_box **list, struct task_box *b)
{
    b->next = *list;
    *list = b;
}

/* ---- without a box ------------------------------------------------------------------------ */

static __attribute__((noinline)) filch_task *alloc_loose(struct task_store *s)
{
    lock_acquire(&s->lock);
    filch_task *t = loose_or_new(s);
    lock_release(&s->lock);
    return t;
}

static __attribute__((noinline)) void free_loose(struct task_store *s, filch_task *t)
{
    lock_acquire(&s->lock);
    t->link = (uintptr_t)s->loose;
    s->loose = t;
    lock_release(&s->lock);
}

/* ---- with one ------------------------------------------------------------------------------ */

static void swap_boxes(struct task_cache *c)
{
    struct task_box *b = c->open;
    c->open = c->other;
    c->other = b;
}

/* Lock held. */
static void fill_box(struct task_store *s, struct task_box *b)
{
    filch_task *t;
    while (b->count < TASK_BATCH && (t = loose_or_new(s)))
        b->task[b->count++] = t;
}

/* Nothing is in the open one, or there is none: another that is full, or as many as can be had. */
static __attribute__((noinline)) void refill(struct task_store *s, struct task_cache *c)
{
    if (c->other && c->other->count > 0) {
        swap_boxes(c);
        return;
    }
    lock_acquire(&s->lock);
    if (s->full) {
        if (c->open)
            put_box(&s->empty, c->open);
        c->open = s->full;
        s->full = c->open->next;
    } else {
        if (!c->open)
            c->open = empty_box(s);
        if (c->open)
            fill_box(s, c->open);
    }
    lock_release(&s->lock);
}

/* The open one is full, or there is none: another that is empty, if it can be had. */
static __attribute__((noinline)) void make_room(struct task_store *s, struct task_cache *c)
{
    if (!c->other || c->other->count > 0) {
        lock_acquire(&s->lock);
        if (c->other)
            put_box(&s->full, c->other);
        c->other = empty_box(s);
        lock_release(&s->lock);
    }
    swap_boxes(c);
}

/* Those that are taken soon. Free ones have left the cache, or are in that of who freed them. */
static inline void fetch_ahead(const struct task_box *b)
{
    if (FILCH_PREFETCH && b->count > AHEAD)
        filch_prefetch_write(b->task[b->count - 1 - AHEAD]);
}

filch_task *task_alloc(struct task_store *s, struct task_cache *c)
{
    if (!c)
        return alloc_loose(s);
    if (__builtin_expect(!c->open || c->open->count == 0, 0)) {
        refill(s, c);
        if (!c->open || c->open->count == 0)
            return alloc_loose(s);
    }
    fetch_ahead(c->open);
    return c->open->task[--c->open->count];
}

void task_free(struct task_store *s, struct task_cache *c, filch_task *t)
{
    if (c && __builtin_expect(!c->open || c->open->count == TASK_BATCH, 0))
        make_room(s, c);
    if (c && c->open)
        c->open->task[c->open->count++] = t;
    else
        free_loose(s, t);
}

void task_store_destroy(struct task_store *s)
{
    while (s->slabs) {
        struct task_slab *next = s->slabs->next;
        os_free(s->slabs);
        s->slabs = next;
    }
    while (s->boxes) {
        struct task_box *older = s->boxes->older;
        os_free(s->boxes);
        s->boxes = older;
    }
    *s = (struct task_store){0};
}

void task_store_reset(struct task_store *s)
{
    struct task_slab *slabs = s->slabs;
    *s = (struct task_store){.slabs = slabs, .carving = slabs, .boxes = s->boxes};
    for (struct task_box *b = s->boxes; b; b = b->older) {
        b->count = 0;
        put_box(&s->empty, b);
    }
    for (; slabs; slabs = slabs->next) {
        for (size_t i = 0; i < slabs->used; i++)
            slabs->task[i].pool = 0; /* as those that were given back */
        slabs->used = 0;
    }
}

void task_each(struct task_store *s, void (*fn)(const filch_task *t, void *arg), void *arg)
{
    /* order: acquires what carve released; a slab is never removed while the pool lives */
    for (struct task_slab *slab = filch_load_acquire(&s->slabs); slab; slab = slab->next) {
        size_t used = filch_load_relaxed(&slab->used); /* order: a hint; the slab was zeroed */
        for (size_t i = 0; i < used; i++)
            fn(&slab->task[i], arg);
    }
}
