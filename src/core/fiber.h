/* fiber.h: a stack, its job slots, and what is known about the flow that runs on them.
 *
 * One region of address space each, reserved, touched lazily:
 *
 *     guard | stack, grows down ......... <- top of stack | fiber, slots ............. | guard
 *
 * so that a fiber which forks little touches a single page. Regions come in slabs, are
 * reused hot (per-worker cache, then the pool's list) and are unmapped only with the pool: a
 * thief may look at any fiber of its pool at any time. Large ones that are too many are cooled as they
 * are given back; small ones are given back whole, header and all, when nothing was to be done for a
 * while (fiber_trim): a thief that looks at one then sees zeroes, and nothing to steal.
 *
 * | field    | writer                   | reader                                             |
 * | slots    | see slots.h              |                                                    |
 * | lineage  | the fiber itself         | thieves, after they claimed one of its jobs        |
 * | root     | the fiber itself         | thieves that may help one root only (a hint)       |
 * | gate     | finisher 1, sleeper 0    | sleeper                                            |
 * | lasting  | the fiber itself         | thieves (a hint)                                   |
 * | waiting  | the fiber itself         | who cancels the pool, see wait.h [V4]; the dump    |
 * | the rest | whoever runs it, handed over with it                                          |
 *
 * The dump copies fibers as they are, through os_peek, and believes nothing of what it sees.
 */
#ifndef FILCH_FIBER_H
#define FILCH_FIBER_H

#include "core/slots.h"
#include "os/context.h"

struct worker;
struct chunk;
struct par;
struct filch_pool;

/* Where a tree of forks begins: a call from outside or a submitted job. On the stack of the fiber
 * that runs it. */
struct root {
    struct lineage here;           /* {null, null} */
    const char *name;              /* or null */
    struct chunk *locals;          /* local.h */
};

struct fiber {
    /* A line of the cache that a switch needs ... */
    os_context context;
    struct filch_pool *pool;
    struct wait *waiting;          /* what it waits for, or null                            */
    union {
        uintptr_t link;            /* in a queue                                            */
        struct fiber *next;        /* in a free list                                        */
    };
    /* ... and one for what it runs. */
    int errno_value;
    uint32_t budget;               /* operations since it was last suspended, see budget.h  */
    uint32_t pins;                 /* > 0: stays on its thread, joins help                  */
    uint32_t pins_held;            /* of these, not the running job's own to undo           */
    struct filch_task *task;       /* that runs on it, or null                              */
    struct wait_token *token;      /* that cancels what it waits for, or null               */
    const struct lineage *lineage; /* of the job that runs, null when none does             */
    const struct root *root;       /* that the job belongs to                               */
    struct fiber_store *store;     /* where it came from                                    */
    uint32_t gate;
    uint32_t blocks;               /* filch_blocking_enter so often                         */

    struct slots slots;
    const filch_slot *joining;     /* the stolen job that it waits for, or null             */
    struct fiber_slab *slab;
    struct fiber *exposed_prev, *exposed_next;
    void *region;
    size_t region_size;
    uint32_t exposed;
    bool replaced;                 /* by a stand-in, meanwhile                              */
    uint32_t lasting;              /* what it forks is worth a barrier at once: see find.c   */
    const struct par *par;         /* the parallel algorithm whose piece runs on it, or null */
};

enum { FIBER_HEADER = 256 }; /* from a fiber to its first slot */

/* To gcc a function that only fetches does nothing, and unless it was inlined early on it is left out. */
#define FIBER_FETCHES inline __attribute__((always_inline))

/* Fetches what a fiber that goes on is asked for: how to enter it, what it runs, whether it has forked. */
static FIBER_FETCHES void fiber_fetch(const struct fiber *f)
{
    filch_prefetch(f);
    filch_prefetch((const char *)f + 64);
    filch_prefetch(&f->slots.top);
    filch_prefetch((const char *)f + FIBER_HEADER);
}

/* Two sizes of stack: fork-join recurses, tasks are many. */
enum { FIBER_LARGE, FIBER_SMALL, FIBER_KINDS };

/* A pool's store of fibers of one size. */
struct fiber_store {
    uint32_t lock;
    uint32_t fenced;
    unsigned kind;
    struct fiber *free;
    size_t free_count;
    size_t live;                   /* regions made */
    size_t stack_size, slots_size, region_size;
    struct fiber_slab *slabs;
    struct fiber_slab *cold;       /* those with regions that were given back whole */
    uint32_t warned;
};

void fiber_store_init(struct fiber_store *s, unsigned kind, size_t stack_size, bool fenced);
void fiber_store_destroy(struct fiber_store *s);
/* In the child of fork(): every fiber is free again. */
void fiber_store_reset(struct fiber_store *s);

/* A fiber to run on, or null if there is no memory. */
struct fiber *fiber_take(struct fiber_store *s, struct filch_pool *pool);
/* Back to its store: one, or several that are linked by `next`, the last one's aside. */
void fiber_give(struct fiber_store *s, struct fiber *f);
void fiber_give_many(struct fiber_store *s, struct fiber *first, struct fiber *last, size_t n);

/* More free ones than are kept warm. */
bool fiber_surplus(struct fiber_store *s);
/* Gives the memory of some of them back, by a system call each; true if there are more. */
bool fiber_trim(struct fiber_store *s, size_t most);

/* Calls fn for every fiber that was made, free ones too. No lock; the pool stays meanwhile. */
void fiber_each(struct fiber_store *s, void (*fn)(const struct fiber *f, void *arg), void *arg);

/* Which fiber's guard does this address hit? For the overflow reporter: async-signal-safe. */
struct fiber *fiber_at_guard(struct fiber_store *s, const void *address, bool *in_slots);

#endif
