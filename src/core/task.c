#include "core/task.h"

enum { SLAB_TASKS = 1023 };

struct task_slab {
    struct task_slab *next;
    size_t used;
    char pad[48];
    filch_task task[SLAB_TASKS];
};

static void pile_push(struct task_pile *p, filch_task *t)
{
    t->link = (uintptr_t)p->top;
    p->top = t;
    p->count++;
}

static filch_task *pile_pop(struct task_pile *p)
{
    filch_task *t = p->top;
    if (t) {
        p->top = (filch_task *)t->link;
        p->count--;
    }
    return t;
}

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

static filch_task *loose_or_new(struct task_store *s)
{
    filch_task *t = pile_pop(&s->loose);
    return t ? t : carve(s);
}

/* A full pile if there is one, or as much of one as can be had. */
static struct task_pile refill(struct task_store *s)
{
    struct task_pile p = {0};
    lock_acquire(&s->lock);
    if (s->piles) {
        p = (struct task_pile){s->piles, TASK_BATCH};
        s->piles = s->piles->locals;
    } else {
        while (p.count < TASK_BATCH) {
            filch_task *t = loose_or_new(s);
            if (!t)
                break;
            pile_push(&p, t);
        }
    }
    lock_release(&s->lock);
    return p;
}

filch_task *task_alloc(struct task_store *s, struct task_cache *c)
{
    filch_task *t;
    if (!c) {
        lock_acquire(&s->lock);
        t = loose_or_new(s);
        lock_release(&s->lock);
        return t;
    }
    t = pile_pop(&c->open);
    if (t)
        return t;
    if (c->full.top) {
        c->open = c->full;
        c->full = (struct task_pile){0};
    } else {
        c->open = refill(s);
    }
    return pile_pop(&c->open);
}

static void give_pile(struct task_store *s, struct task_pile p)
{
    lock_acquire(&s->lock);
    p.top->locals = s->piles;
    s->piles = p.top;
    lock_release(&s->lock);
}

void task_free(struct task_store *s, struct task_cache *c, filch_task *t)
{
    if (!c) {
        lock_acquire(&s->lock);
        pile_push(&s->loose, t);
        lock_release(&s->lock);
        return;
    }
    if (c->open.count == TASK_BATCH) {
        if (c->full.top)
            give_pile(s, c->full);
        c->full = c->open;
        c->open = (struct task_pile){0};
    }
    pile_push(&c->open, t);
}

void task_store_destroy(struct task_store *s)
{
    while (s->slabs) {
        struct task_slab *next = s->slabs->next;
        os_free(s->slabs);
        s->slabs = next;
    }
    *s = (struct task_store){0};
}

void task_store_reset(struct task_store *s)
{
    struct task_slab *slabs = s->slabs;
    *s = (struct task_store){.slabs = slabs, .carving = slabs};
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
