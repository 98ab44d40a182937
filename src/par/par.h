/* par.h: a call of a parallel algorithm: where it runs, what stops it, what it returns.
 *
 * | field  | writer                     | reader          | invariant                              |
 * | stop   | who fails or finds, once   | every piece     | not 0: no piece is begun any more      |
 * | told   | who sees that it lasts     | the same        | not 0: sleepers have been told         |
 * | error  | who set `stop` to 1        | the caller, after all pieces have ended          |
 * | the rest| the caller, before it starts; then nobody                                           |
 *
 * [P1] `stop` is a flag that is read before each piece: a stale 0 costs a piece. What the one who set it has
 *      written reaches the caller through the joins, which the caller has behind it when it reads `error`.
 *
 * Calls nest: a body may call another algorithm, on whatever worker it was stolen to. The fiber that runs
 * a piece therefore knows the call (fiber.par) and the token of the task that made it (fiber.token); a
 * call inside stops with its outer ones, and waits in a stolen piece are cancelled as if they were made by
 * the task.
 */
#ifndef FILCH_PAR_INTERNAL_H
#define FILCH_PAR_INTERNAL_H

#include "core/run.h"
#include "core/wait.h"

#include <errno.h>
#include <filch/how.h>

struct par {
    filch_pool *pool;
    const char *name;
    struct wait_token *token;      /* of the caller, or null                            */
    struct wait_token *also;       /* filch_how.scope                                   */
    const struct par *outer;       /* the call whose piece made this one, or null       */
    filch_how how;                 /* complete: zeroes where nothing was said           */
    bool alone;                    /* nothing is forked                                 */
    bool firm;                     /* past the point of return: nothing cancels it      */
    struct os_fp fp;               /* the caller's: its pieces have them wherever they run */
    uint64_t begun;                /* ticks                                             */
    uint32_t told;
    uint32_t stop;
    int32_t error;
};

/* A piece of a call runs on this fiber: set and reset around whatever was stolen. */
struct par_place {
    struct fiber *fiber;
    struct wait_token *token;
    const struct par *par;
};

/* Fills it in. `call` names the public function in messages. */
void par_begin(struct par *p, const filch_how *how, const char *call);
/* Runs fn(box, head) on a large stack of the pool and returns when it is done. */
void par_run(struct par *p, void (*fn)(void *box, filch_slot *head), void *box);
/* What the public function returns. */
int par_end(const struct par *p);

/* Is there no more to do? */
bool par_stopped(const struct par *p);
/* No more pieces. The first to say so has its error returned; 0 for one that has found what it looked for. */
void par_stop(struct par *p, int error);

/* Forks wake nobody, and who sleeps may not look for a millisecond. A call that has lasted about as long as
 * it takes to wake one tells, once: it has lost no more than half of what it could have had. Asked now and
 * then, when something has been forked. Does it last, by now (os_ticks)? */
bool par_lasts(struct par *p, uint64_t now);

struct par_place par_enter(const struct par *p);
void par_leave(const struct par_place *place);

/* How many workers a call has, at least 1. */
int par_workers(const struct par *p);

/* Scratch of this many bytes: the caller's if it is large enough, else allocated; null: no memory. */
void *par_scratch(const struct par *p, size_t size);
void par_scratch_free(const struct par *p, void *scratch);

/* Reports a null function, or an array that cannot be. */
void par_check_body(bool there, const char *call);
void par_check_array(const void *base, size_t n, size_t size, const char *call);

/* n * size; SIZE_MAX if that is too much for any memory. */
size_t par_bytes(size_t n, size_t size);

#endif
