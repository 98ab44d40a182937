/* pipe_crew.h: who carries the items of a pipeline.
 *
 * A token stands for an item in flight: there is a fixed number of them. A hand is a task that carries one
 * token at a time. What there is to do: tokens that were left at a serial stage and may go on (`ready`),
 * and to fetch an item from the source, if a token is free and nobody is there. A hand that finds nothing
 * to do ends; one that leaves something to do behind calls another, unless as many are on their way.
 *
 * Written and read by the lock's holder, and by the caller before the first hand and after the last:
 *
 * | field         | meaning                                                                              |
 * | hands         | exist or were called; at most `limit`                                                |
 * | coming        | of these, called and not yet here                                                    |
 * | free          | tokens without an item                                                               |
 * | out           | the others: at the source, in a hand, ready, or left at a stage                      |
 * | ready, last   | those which may go on, in the order in which they could; `waiting` of them           |
 * | fetching      | somebody is at a source that is serial                                               |
 * | ended         | the source has no more                                                               |
 * | made, through | items from the source; items that the last stage has taken                           |
 * | caller        | put by the caller, taken once by the last hand                                       |
 *
 * [W1] As long as there is something to do, a hand is coming or all that may be there are: the one who adds
 *      it looks, with the lock held, and calls one if not. A hand looks and, if it finds nothing, is
 *      counted out in one step; so it is not counted on after it has looked. All hands look before they
 *      end. So nothing is left lying when the last one ends.
 * [W2] A token is touched by its hand only, from the step that gave it out to the one that takes it back or
 *      leaves it somewhere, and its fields are handed over by the lock there.
 * [W3] The last access of a hand is that to the lock in the step that counts it out: the caller may free
 *      everything once it has seen hands == 0 with the lock held, or was woken by its node.
 */
#ifndef FILCH_PIPE_CREW_H
#define FILCH_PIPE_CREW_H

#include "core/lock.h"

#include <stddef.h>

struct wait_node;

struct token {
    struct token *next;      /* free, or ready                                   */
    void *item;              /* null: none, or filtered out                      */
    size_t number;           /* of the item, in the order of the source          */
    size_t stage;            /* where it is, or comes to next; 0: to be fetched  */
    bool inside;             /* of a serial stage, or left there until it is     */
    bool through;            /* the last stage has taken it                      */
} __attribute__((aligned(64)));

struct crew {
    uint32_t lock;
    bool many_fetch, fetching, ended;
    size_t hands, coming, limit;
    struct token *free, *ready, *last;
    size_t waiting, out;
    size_t made, through;
    struct wait_node *caller;
};

/* What a hand is to do: carry the token, and call another hand first; or end (no token), and tell the
 * caller. */
struct crew_step {
    struct token *token;
    bool call;
    struct wait_node *tell;
};

/* With no token free, and one hand called. */
static inline void crew_init(struct crew *c, size_t limit, bool many_fetch)
{
    *c = (struct crew){.limit = limit, .many_fetch = many_fetch, .hands = 1, .coming = 1};
}

static inline void crew_give(struct crew *c, struct token *t)
{
    *t = (struct token){.next = c->free};
    c->free = t;
}

/* ---- lock held ------------------------------------------------------------------------------ */

static inline bool crew_may_fetch(const struct crew *c)
{
    return c->free && !c->ended && (c->many_fetch || !c->fetching);
}

/* Is another hand wanted? Then it is counted: to be called without the lock. [W1] */
static inline bool crew_wants(struct crew *c)
{
    bool more = c->waiting + crew_may_fetch(c) > c->coming && c->hands < c->limit;
    c->hands += more;
    c->coming += more;
    return more;
}

static inline struct token *crew_fetch(struct crew *c)
{
    struct token *t = c->free;
    c->free = t->next;
    c->out++;
    c->fetching = true;
    return t;
}

static inline struct token *crew_pop(struct crew *c)
{
    struct token *t = c->ready;
    c->ready = t->next;
    c->waiting--;
    return t;
}

static inline void crew_back(struct crew *c, struct token *t)
{
    c->through += t->through;
    c->out--;
    crew_give(c, t);
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* A hand looks for something to do. It has just come (`comes`), or has brought a token to its end (`done`),
 * or has left one somewhere. What is nearer to the end goes first. If all is to stop, there is nothing to
 * do. */
static inline struct crew_step crew_look(struct crew *c, bool comes, struct token *done, bool stop)
{
    struct crew_step s = {0};
    lock_acquire(&c->lock);
    c->coming -= comes;
    if (done)
        crew_back(c, done);
    if (!stop && c->waiting > 0)
        s.token = crew_pop(c);
    else if (!stop && crew_may_fetch(c))
        s.token = crew_fetch(c);
    if (s.token) {
        s.call = crew_wants(c);
    } else if (--c->hands == 0) {
        s.tell = c->caller;
        c->caller = 0;
    }
    lock_release(&c->lock);
    return s;
}

/* The source was asked: is there an item? True: another hand is to be called. */
static inline bool crew_fetched(struct crew *c, struct token *t, bool item)
{
    lock_acquire(&c->lock);
    c->fetching = false;
    if (item)
        t->number = c->made++;
    else
        c->ended = true;
    bool call = item && crew_wants(c);
    lock_release(&c->lock);
    return call;
}

/* A token may go on, and the caller has another one to carry. True: another hand is to be called. */
static inline bool crew_ready(struct crew *c, struct token *t)
{
    lock_acquire(&c->lock);
    t->next = 0;
    if (c->waiting++ > 0)
        c->last->next = t;
    else
        c->ready = t;
    c->last = t;
    bool call = crew_wants(c);
    lock_release(&c->lock);
    return call;
}

/* A token is at its end, and the caller has another one to carry. True: another hand is to be called. */
static inline bool crew_done(struct crew *c, struct token *t)
{
    lock_acquire(&c->lock);
    crew_back(c, t);
    bool call = crew_wants(c);
    lock_release(&c->lock);
    return call;
}

/* The hand that was to be called could not be. Its caller is one, or there is none. */
static inline void crew_not_called(struct crew *c)
{
    lock_acquire(&c->lock);
    c->hands--;
    c->coming--;
    lock_release(&c->lock);
}

/* ---- the caller ----------------------------------------------------------------------------- */

static inline bool crew_gone(struct crew *c)
{
    lock_acquire(&c->lock);
    bool gone = c->hands == 0;
    lock_release(&c->lock);
    return gone;
}

/* The last hand will take the node, unless all are gone: false. */
static inline bool crew_await(struct crew *c, struct wait_node *n)
{
    lock_acquire(&c->lock);
    bool waits = c->hands > 0;
    c->caller = waits ? n : 0;
    lock_release(&c->lock);
    return waits;
}

/* Does not wait any more. False if the node was taken already. */
static inline bool crew_await_no_more(struct crew *c)
{
    lock_acquire(&c->lock);
    bool there = c->caller;
    c->caller = 0;
    lock_release(&c->lock);
    return there;
}

#endif
