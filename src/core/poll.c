#include "core/poll.h"
#include "core/wait.h"

#include <errno.h>

#define PAGE 2048           /* descriptors */
#define PAGES 512           /* a million in all: as many as the system allows, unless it was told otherwise */
#define AHEAD 4             /* reports ahead, descriptors are fetched, ... */
#define AHEAD_NEAR 2        /* ... and who waits for them */
#define RETRY_NS 1000000    /* no descriptor to be had for waiting: look again so often */

enum { CLOSED = 2 };        /* added to a node's index */

struct poll_fd {
    uint32_t lock;
    uint32_t gen;
    uint32_t epoch[2];
    uint32_t added, drains;
    uint64_t drained;
    struct wait_list waiting[2];
};

struct poller {
    os_poll os;
    struct poller *prev, *next;
    struct poll_fd *page[PAGES];
};

/* A thread that waits with an epoll of its own. */
struct blocked {
    struct blocked *prev, *next;
    os_poll os;
    int fd;
    uint32_t closed;
};

static uint32_t list_lock;
static struct poller *pollers;
static struct blocked *blocked;

/* ---- tables --------------------------------------------------------------------------------- */

static struct poller *poller_of(filch_pool *pool)
{
    return filch_load_acquire(&pool->poller); /* order: [Q2] */
}

static struct poll_fd *find(struct poller *p, int fd)
{
    unsigned n = (unsigned)fd;
    if (!p || n / PAGE >= PAGES)
        return 0;
    struct poll_fd *page = filch_load_acquire(&p->page[n / PAGE]); /* order: [Q2] */
    return page ? &page[n % PAGE] : 0;
}

/* False if there is no memory. */
static bool page_make(struct poller *p, unsigned i)
{
    struct poll_fd *page = filch_load_acquire(&p->page[i]), *none = 0; /* order: [Q2] */
    if (page)
        return true;
    page = os_alloc_aligned(sizeof *page * PAGE, 64);
    if (page && !filch_cas_acq_rel(&p->page[i], &none, page)) { /* order: [Q2] */
        os_free(page);
        return true;
    }
    return page != 0;
}

/* List lock held. */
static void poller_link(filch_pool *pool, struct poller *p)
{
    p->next = pollers;
    if (pollers)
        pollers->prev = p;
    pollers = p;
    filch_store_release(&pool->poller, p); /* order: [Q2] */
}

static int poller_make(filch_pool *pool)
{
    struct poller *p = os_alloc(sizeof *p);
    int rc = p ? os_poll_open(&p->os) : -ENOMEM;
    if (rc != 0) {
        os_free(p);
        return rc;
    }
    lock_acquire(&list_lock);
    bool first = !poller_of(pool);
    if (first)
        poller_link(pool, p);
    lock_release(&list_lock);
    if (!first) {
        os_poll_close(&p->os);
        os_free(p);
    }
    return 0;
}

static int entry_make(filch_pool *pool, int fd, struct poll_fd **out)
{
    if (fd < 0)
        return -EBADF;
    if (fd / PAGE >= PAGES)
        return -EMFILE;
    int rc = poll_exists(pool) ? 0 : poller_make(pool);
    if (rc != 0)
        return rc;
    struct poller *p = poller_of(pool);
    if (!page_make(p, (unsigned)fd / PAGE))
        return -ENOMEM;
    *out = find(p, fd);
    return 0;
}

/* ---- waiting -------------------------------------------------------------------------------- */

/* Never 0. */
static uint64_t drained_at(const struct poll_mark *m)
{
    return (uint64_t)m->gen << 32 | (m->epoch[0] + 1u);
}

void poll_mark(filch_pool *pool, int fd, struct poll_mark *m)
{
    struct poll_fd *e = pool ? find(poller_of(pool), fd) : 0;
    *m = (struct poll_mark){0};
    if (!e)
        return; /* as all is in a new page */
    while ((m->gen = filch_load_acquire(&e->gen)) % 2) /* order: [Q1] */
        os_thread_yield(); /* another is just closing who had this number before */
    for (int d = 0; d < 2; d++)
        m->epoch[d] = filch_load_acquire(&e->epoch[d]); /* order: [Q1] */
    m->drained = filch_load_relaxed(&e->drained) == drained_at(m) && /* order: a value, true at any time */
                 filch_load_relaxed(&e->drains); /* order: [Q1] */
}

void poll_drained(filch_pool *pool, int fd, const struct poll_mark *m)
{
    struct poll_fd *e = pool ? find(poller_of(pool), fd) : 0;
    if (e && filch_load_relaxed(&e->drains)) /* order: a hint */
        filch_store_relaxed(&e->drained, drained_at(m)); /* order: a value, true at any time */
}

static uint64_t tag_of(int fd, uint32_t gen)
{
    return (uint64_t)gen << 32 | (uint32_t)fd;
}

/* Lock held. 0: worth waiting. 1: something happened since the mark. */
static int still_blocked(const struct poll_fd *e, unsigned what, const struct poll_mark *m)
{
    if (e->gen != m->gen)
        return -ECANCELED;
    for (unsigned d = 0; d < 2; d++)
        if (what >> d & 1 && e->epoch[d] != m->epoch[d])
            return 1;
    return 0;
}

/* Lock held. A system call under a lock, but once for each descriptor. */
static int registered(struct poller *p, struct poll_fd *e, int fd)
{
    if (e->added)
        return 0;
    filch_store_relaxed(&e->drains, (uint32_t)os_fd_drains(fd)); /* order: the lock; [Q1] for later marks */
    int rc = os_poll_add(&p->os, fd, tag_of(fd, e->gen));
    e->added = rc == 0;
    return rc;
}

static int enlist(struct poller *p, struct poll_fd *e, int fd, unsigned what, const struct poll_mark *m,
                  struct wait_node n[2])
{
    lock_acquire(&e->lock);
    int rc = still_blocked(e, what, m);
    if (rc == 0)
        rc = registered(p, e, fd);
    for (unsigned d = 0; rc == 0 && d < 2; d++)
        if (what >> d & 1)
            wait_list_add(&e->waiting[d], &n[d]);
    lock_release(&e->lock);
    return rc;
}

/* Takes the nodes out that are still listed, and waits for whoever has one that did not end the wait. */
static void delist(struct poll_fd *e, unsigned what, struct wait_node n[2], int why)
{
    unsigned taken = 0;
    lock_acquire(&e->lock);
    for (unsigned d = 0; d < 2; d++) {
        if (!(what >> d & 1))
            continue;
        if (wait_list_has(&n[d]))
            wait_list_unlink(&e->waiting[d], &n[d]);
        else if (why < 0 || (unsigned)why % 2 != d)
            taken |= 1u << d;
    }
    lock_release(&e->lock);
    for (unsigned d = 0; d < 2; d++)
        if (taken >> d & 1)
            wait_node_settle(&n[d]);
}

int poll_wait(filch_pool *pool, int fd, unsigned what, const struct poll_mark *m, int64_t deadline,
              const struct wait_subject *about)
{
    struct poll_fd *e = 0;
    int rc = entry_make(pool, fd, &e);
    if (rc != 0)
        return rc;
    struct { /* side by side: who reports finds them together */
        struct wait_node n[2];
        struct wait w;
    } here;
    struct wait_node *n = here.n;
    n[0] = (struct wait_node){.wait = &here.w, .index = 0};
    n[1] = (struct wait_node){.wait = &here.w, .index = 1};
    wait_begin(&here.w);
    wait_about(&here.w, about, (void *)(intptr_t)fd);
    rc = enlist(poller_of(pool), e, fd, what, m, n);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    int why = wait_park(&here.w, deadline);
    bool both = what == (OS_POLL_IN | OS_POLL_OUT);
    if (why < 0 || both)
        delist(e, what, n, why);
    if (why < 0)
        return wait_error(why);
    return why >= CLOSED ? -ECANCELED : 0;
}

/* ---- reports -------------------------------------------------------------------------------- */

/* Lock held. Takes all nodes of a list and puts them before `chain`, linked by prev; `mark` is added to
 * the index of each. */
static struct wait_node *take_all(struct wait_list *l, struct wait_node *chain, int mark)
{
    struct wait_node *n = l->tail, *prev;
    for (; n; n = prev) {
        prev = n->prev;
        n->prev = chain;
        n->next = n; /* out of every list */
        n->index += mark;
        chain = n;
    }
    *l = (struct wait_list){0, 0};
    return chain;
}

static void fire_all(struct wait_node *n)
{
    while (n) {
        struct wait_node *next = n->prev; /* read before the waiter goes on and is gone */
        fiber_fetch(n->wait->fiber); /* only fibers wait here; the wait stays until fired or gone [V3] */
        (void)wait_node_fire(n);
        n = next;
    }
}

static void report(struct poller *p, const struct os_poll_event *event)
{
    struct poll_fd *e = find(p, (int)(uint32_t)event->tag);
    if (!e)
        return;
    struct wait_node *ready = 0;
    lock_acquire(&e->lock);
    bool current = e->added && e->gen == (uint32_t)(event->tag >> 32);
    if (current && event->ready & OS_POLL_ODD)
        filch_store_relaxed(&e->drains, 0u); /* order: [Q1] before the epoch */
    for (unsigned d = 2; current && d-- > 0;) {
        if (!(event->ready >> d & 1))
            continue;
        filch_store_release(&e->epoch[d], e->epoch[d] + 1); /* order: [Q1] */
        ready = take_all(&e->waiting[d], ready, 0);
    }
    lock_release(&e->lock);
    fire_all(ready);
}

/* A node and the wait behind it. The lock, because who waits may leave just now. */
static inline void fetch_waiter(struct poll_fd *e)
{
    if (!e || !lock_try(&e->lock))
        return;
    const struct wait_node *first = e->waiting[0].tail ? e->waiting[0].tail : e->waiting[1].tail;
    lock_release(&e->lock);
    if (!first)
        return;
    filch_prefetch(first);
    filch_prefetch((const char *)first + 64);
}

/* The descriptors of a crowd have left the cache, and the stacks of those who wait: they are fetched while
 * those before them are dealt with. */
static void report_all(struct poller *p, const struct os_poll_event *event, int n)
{
    for (int i = 0; i < n; i++) {
        if (i + AHEAD < n)
            filch_prefetch(find(p, (int)(uint32_t)event[i + AHEAD].tag));
        if (FILCH_PREFETCH && i + AHEAD_NEAR < n)
            fetch_waiter(find(p, (int)(uint32_t)event[i + AHEAD_NEAR].tag));
        report(p, &event[i]);
    }
}

void poll_deliver(filch_pool *pool, const struct poll_batch *batch)
{
    report_all(poller_of(pool), batch->event, batch->count);
}

void poll_deliver_outside(filch_pool *pool, const struct poll_batch *batch)
{
    void *self = os_self_get();
    os_self_set(0);
    poll_deliver(pool, batch);
    os_self_set(self);
}

int poll_look(filch_pool *pool)
{
    struct os_poll_event event[POLL_LOOK];
    struct poller *p = poller_of(pool);
    int n = os_poll_wait(&p->os, event, POLL_LOOK, FILCH_NOW);
    report_all(p, event, n);
    return n > 0 ? n : 0;
}

int poll_sleep(filch_pool *pool, struct poll_batch *out, int64_t deadline)
{
    int n = os_poll_wait(&poller_of(pool)->os, out->event, OS_POLL_MOST, deadline);
    out->count = n > 0 ? n : 0;
    return n;
}

void poll_wake(filch_pool *pool)
{
    os_poll_wake(&poller_of(pool)->os);
}

/* ---- closing -------------------------------------------------------------------------------- */

static struct wait_node *entry_close(struct poller *p, int fd, struct wait_node *chain)
{
    struct poll_fd *e = find(p, fd);
    if (!e)
        return chain;
    lock_acquire(&e->lock);
    if (e->added)
        os_poll_remove(&p->os, fd); /* by itself it goes only with the last copy of the descriptor */
    e->added = 0;
    filch_store_relaxed(&e->drains, 0u); /* order: [Q1] before the gen */
    filch_store_release(&e->gen, e->gen | 1); /* order: [Q1] */
    for (unsigned d = 0; d < 2; d++)
        chain = take_all(&e->waiting[d], chain, CLOSED);
    lock_release(&e->lock);
    return chain;
}

void poll_close(int fd)
{
    struct wait_node *chain = 0;
    lock_acquire(&list_lock);
    for (struct poller *p = pollers; p; p = p->next)
        chain = entry_close(p, fd, chain);
    for (struct blocked *b = blocked; b; b = b->next) {
        if (b->fd == fd && !b->closed) {
            b->closed = 1;
            os_poll_wake(&b->os);
        }
    }
    lock_release(&list_lock);
    fire_all(chain);
}

void poll_closed(int fd)
{
    lock_acquire(&list_lock);
    for (struct poller *p = pollers; p; p = p->next) {
        struct poll_fd *e = find(p, fd);
        if (!e)
            continue;
        lock_acquire(&e->lock);
        filch_store_release(&e->gen, e->gen + e->gen % 2); /* order: [Q1] */
        lock_release(&e->lock);
    }
    lock_release(&list_lock);
}

/* ---- threads that wait by themselves -------------------------------------------------------- */

static void blocked_link(struct blocked *b)
{
    lock_acquire(&list_lock);
    b->next = blocked;
    if (blocked)
        blocked->prev = b;
    blocked = b;
    lock_release(&list_lock);
}

/* Returns whether the descriptor was closed meanwhile. */
static bool blocked_unlink(struct blocked *b)
{
    lock_acquire(&list_lock);
    if (b->prev)
        b->prev->next = b->next;
    else
        blocked = b->next;
    if (b->next)
        b->next->prev = b->prev;
    bool closed = b->closed;
    lock_release(&list_lock);
    return closed;
}

static bool blocked_closed(struct blocked *b)
{
    lock_acquire(&list_lock);
    bool closed = b->closed;
    lock_release(&list_lock);
    return closed;
}

static int block(struct blocked *b, unsigned what, int64_t deadline)
{
    struct os_poll_event event = {0};
    int rc = os_poll_add(&b->os, b->fd, 0);
    while (rc == 0 && !(event.ready & what) && !blocked_closed(b)) {
        rc = os_poll_wait(&b->os, &event, 1, deadline);
        rc = rc > 0 ? 0 : rc;
    }
    return rc;
}

int poll_block(int fd, unsigned what, int64_t deadline)
{
    struct blocked b = {.fd = fd};
    int rc = os_poll_open(&b.os);
    if (rc != 0) { /* too many are open: the call itself has to tell when it is ready */
        os_sleep_ns(RETRY_NS);
        return os_clock_ns() >= deadline ? -ETIMEDOUT : 0;
    }
    blocked_link(&b);
    rc = block(&b, what, deadline);
    bool closed = blocked_unlink(&b);
    os_poll_close(&b.os);
    return closed ? -ECANCELED : rc;
}

/* ---- pools come and go ---------------------------------------------------------------------- */

static void poller_free(struct poller *p)
{
    os_poll_close(&p->os);
    for (int i = 0; i < PAGES; i++)
        if (p->page[i])
            os_free(p->page[i]);
    os_free(p);
}

void poll_destroy(filch_pool *pool)
{
    struct poller *p = pool->poller;
    if (!p)
        return;
    lock_acquire(&list_lock);
    if (p->prev)
        p->prev->next = p->next;
    else
        pollers = p->next;
    if (p->next)
        p->next->prev = p->prev;
    lock_release(&list_lock);
    poller_free(p);
}

void poll_reset_all(void)
{
    list_lock = 0; /* perhaps held by a thread that is not here */
    pollers = 0;
    blocked = 0;
}

/* The child has its own descriptors, but they are of the parent's epoll: not to be asked or changed. */
void poll_reset(filch_pool *pool)
{
    if (pool->poller)
        poller_free(pool->poller);
    pool->poller = 0;
}
