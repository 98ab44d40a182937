/* wait.h: one wait of one flow, whatever it waits for.
 *
 * A `wait` is on the stack of the flow (a fiber, or a thread outside) that waits; a `wait_node` stands
 * for it in the list of an object, several of them if it waits for several. Exactly one event ends a
 * wait: an object, its deadline, a cancellation. Whoever is first claims it.
 *
 *     OPEN ----------> PARKED         the flow has left its stack (its thread sleeps)
 *       \                \
 *        TAKEN ---------- TAKEN       by the one whose CAS succeeds
 *          \                \
 *           FIRED            (made runnable, or FIRED and woken)
 *
 * | field  | writer                        | reader     | invariant                               |
 * | state  | CAS: flow parks, others claim | the same   | only forwards                           |
 * | why    | the claimer                   | the flow   | set before it goes on                   |
 * | fiber  | the flow, before its nodes are in lists | claimer |                                  |
 * | gone   | who took the node out and lost | the flow  | its last access to the node             |
 * | hold   | the flow; once HELD, CAS: both | claimers  | SOFT, FIRM (nothing cancels it), or HELD |
 * |        |                               |            | before its lock is given back, then CONTESTED |
 * | taken  | who took its node out         | canceller  | only if HELD, see [V5]                  |
 *
 * [V1] claim: acquires what the flow wrote before it parked or listed itself.
 * [V2] FIRED is stored with release, acquired by the flow: it sees `why`, and what the claimer wrote
 *      for it. A fiber that is resumed sees them through the queue.
 * A flow that belongs to something that can be cancelled (a scope) has a token; while it is parked it
 * is in the token's list as well.
 *
 * What the wait is for (about, object, since_ns, deadline) is written by the flow before it parks, for
 * the dump, which copies it from the flow's stack through os_peek: it may be out of date, or torn.
 *
 * | token.canceled | canceller, once, with the lock | flows | after it, nobody enters the list        |
 *
 * A whole pool can be cancelled as well (wait_cancel_pool). That costs tasks a load, not a list: the
 * canceller finds the waits by way of the fibers.
 *
 * | fiber.waiting | its flow                  | canceller | the wait exists while it stands there    |
 * | pool.heed     | cancel_lock               | flows     | 0 in a pool without fences, dumps, cancellation |
 *
 * [V4] flow: store `waiting`, then load `heed`; canceller: store CANCELING there, barrier, then load
 *      `waiting`. The flow's fence is in the canceller's membarrier; where there is none, it has one.
 *      Begin: one sees the other, so no wait is left out. End: a flow that took its wait away and does
 *      not see CANCELING did so before the barrier, so the canceller does not find it; one that sees it
 *      waits until the canceller is done.
 * [V3] gone: a node is taken out of its list under the list's lock, and fired without it. If another
 *      event was first, the flow comes to take its node out, does not find it, and has to wait until
 *      the one who has it is done with it.
 * [V5] A wait that parked with the lock of its list held has one node, no deadline and no token: besides who
 *      takes the node out, only the pool's canceller may end it. So the former need not claim it by CAS: it
 *      stores `taken`, then loads `heed`; the canceller stores CANCELING there, makes its barrier, then loads
 *      `taken`. If `heed` was 0, the store came before the barrier, and the canceller leaves the wait alone.
 *      If not, both go on to a CAS on `hold`, and one wins. Where there is no membarrier `heed` is never
 *      0. Its state stays OPEN until it has fired.
 */
#ifndef FILCH_WAIT_H
#define FILCH_WAIT_H

#include "core/lock.h"

struct filch_pool;
struct worker;

struct wait_node {
    union {
        struct wait_node *next;
        uintptr_t link;      /* in a queue: see wait_answer */
    };
    struct wait_node *prev;
    struct wait *wait;
    int32_t index;           /* becomes `why` */
    uint32_t gone;
};

struct wait_list {
    struct wait_node *head, *tail;
};

/* What a flow waits for, for the dump. One static object per call that waits. */
enum wait_kind {
    WAIT_FOR_OBJECT,         /* anything: its address is shown */
    WAIT_FOR_TASK,           /* the object is a filch_task */
    WAIT_FOR_SCOPE,          /* the object is the token of all the tasks that are waited for */
    WAIT_FOR_FD,             /* the object is a file descriptor: (void *)(intptr_t)fd */
    WAIT_FOR_LOCK,           /* as WAIT_FOR_OBJECT; a pinned flow does not run its forks meanwhile */
};

struct wait_subject {
    const char *call;        /* "filch_task_join" */
    const char *noun;        /* "task" */
    enum wait_kind kind;
    uint32_t name_at;        /* where in the object its name (const char *) is; 0: it has none */
    uint32_t holder_at;      /* where in the object the fiber is that has it; 0: it is not known */
};

struct wait {
    /* Read by who ends it: near each other, and in a crowd each line of the cache counts. */
    uint32_t state;
    int32_t why;             /* WAIT_WOKEN.., or an index, for those who wait for several */
    struct fiber *fiber;     /* null: a thread, asleep at `state` */
    uint32_t taken, hold;    /* see [V5] */
    struct wait_token *token; /* null: not to be cancelled */
    /* And the rest. */
    const struct wait_subject *about; /* or null */
    const void *object;
    int64_t since_ns;        /* 0: not known, see wait_keep_time */
    int64_t deadline;
};

_Static_assert(sizeof(struct wait) == 64, "as small as it can be: see wait.c, park_simply");

/* What cancels the waits of many flows at once. */
struct wait_token {
    uint32_t lock;
    uint32_t canceled;
    bool shield;             /* its waits are not cancelled with the pool: set before any begins */
    struct wait_list waits;
    /* One of the flows ended, with this result. Called on its worker; the token may be gone after. */
    void (*ended)(struct wait_token *token, int result, const char *name);
};

enum { WAIT_TIMEOUT = -1, WAIT_CANCELED = -2, WAIT_WOKEN = 0 };

/* The flow: begin, put nodes into lists, park (returns `why`), take the nodes that are left out of
 * their lists. */
void wait_begin(struct wait *w);
void wait_begin_firm(struct wait *w); /* a wait that no token cancels */
void wait_begin_at(struct worker *me, struct wait *w); /* as wait_begin; me: the caller's, or null */
int wait_park(struct wait *w, int64_t deadline);
/* The same with the lock of the list held, which is given back: at once, or, if a fiber is at hand to go on
 * with, when this one has left its stack. Then nobody finds the wait before it is parked, and neither
 * to park nor to be claimed takes a CAS [V5]. */
int wait_park_holding(struct worker *me, struct wait *w, uint32_t *lock, int64_t deadline);

/* Would a wait of the caller suspend it, and leave its thread to others? */
bool wait_suspends(void);
/* For those whose thread blocks in the kernel: what the caller forked runs first, and the seat is for others
 * meanwhile. */
void wait_blocking(void (*block)(void *arg), void *arg);

/* Between begin and park: what this is about. */
static inline void wait_about(struct wait *w, const struct wait_subject *about, const void *object)
{
    w->about = about;
    w->object = object;
}

/* Bits of pool.heed: waits make their own fence; they note when they began (not before somebody wants
 * to know: a clock costs as much as a switch); they are cancelled; and just being cancelled. */
enum { HEED_FENCED = 1, HEED_CLOCK = 2, HEED_CANCELED = 4, HEED_CANCELING = 8 };
#define HEED_CANCEL ((uint32_t)(HEED_CANCELED | HEED_CANCELING))

/* Waits of this pool note when they begin, from now on. Any thread. */
void wait_keep_time(struct filch_pool *pool);

/* Has it ended? From a copy, for the dump. */
bool wait_ended(const struct wait *copy);

/* What a call returns whose wait ended so without being woken: -ETIMEDOUT or -ECANCELED. Every call that
 * fails so ends with this, also if it did not begin to wait, because it lets others run now and then
 * (budget.h): so no lock of the core is held. */
int wait_error(int why);

/* The others. One step, or claim and complete with something done in between (state is what
 * wait_claim returned; not WAIT_LOST). */
enum wait_claim { WAIT_LOST, WAIT_WAS_OPEN, WAIT_WAS_PARKED };
enum wait_claim wait_claim(struct wait *w);
void wait_complete(struct wait *w, enum wait_claim was, int why);
void wait_complete_from(struct worker *me, struct wait *w, enum wait_claim was, int why);
bool wait_fire(struct wait *w, int why);

/* Ends the wait of a node that was taken out of its list. False if another event was first. Not to
 * be touched afterwards. */
bool wait_node_fire(struct wait_node *n);
/* The same in two steps. */
enum wait_claim wait_node_claim(struct wait_node *n);
/* Can only an object end this wait of a fiber, which is begun? Then its node need not be fired by who takes
 * it out: he may put it into a queue of the fiber's pool, and whoever takes it from there ends the wait. So
 * the waker does not look at the waiter's stack, which has left the cache. */
bool wait_is_sole(const struct wait *w, int64_t deadline);
/* Ends such a wait. The fiber, which is the caller's to run; null: it has not left its stack, nor will it. */
struct fiber *wait_answer(struct wait_node *n);
/* The flow: the node was taken out by somebody, and something else ended the wait. */
void wait_node_settle(struct wait_node *n);

/* Every flow of this token that waits, or will, is told. Any thread. False if it was so already. */
bool wait_cancel_all(struct wait_token *token);
bool wait_canceled(const struct wait_token *token);

/* Every wait of every flow of the pool that is not firm, now and later, is told. Any thread. 0, or an
 * error: the machine refused the barrier. */
int wait_cancel_pool(struct filch_pool *pool);

/* ---- lists: lock held --------------------------------------------------------------------- */

static inline void wait_list_add(struct wait_list *l, struct wait_node *n)
{
    n->next = 0;
    n->prev = l->tail;
    if (l->tail)
        l->tail->next = n;
    else
        l->head = n;
    l->tail = n;
}

static inline void wait_list_unlink(struct wait_list *l, struct wait_node *n)
{
    if (n->prev)
        n->prev->next = n->next;
    else
        l->head = n->next;
    if (n->next)
        n->next->prev = n->prev;
    else
        l->tail = n->prev;
    n->next = n->prev = n; /* out of every list */
}

static inline bool wait_list_has(const struct wait_node *n)
{
    return n->next != n;
}

static inline struct wait_node *wait_list_pop(struct wait_list *l)
{
    struct wait_node *n = l->head;
    if (n)
        wait_list_unlink(l, n);
    return n;
}

#endif
