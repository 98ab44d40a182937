/* pipe.c: pipelines. Who carries the items: pipe_crew.h; what happens at serial stages: turn.h.
 *
 * The tasks belong to a scope of the call, which is cancelled with that of the caller: so whatever stops the
 * pipeline also ends the waits in its stages. Once it is to stop, hands leave their tokens where they are,
 * and when the last hand has gone the caller drops what is still in tokens. Nobody else drops anything.
 *
 * | field         | writer                             | reader                                  |
 * | par           | see par.h                                                                    |
 * | turns, tokens | see turn.h, pipe_crew.h                                                      |
 * | heard         | the caller                         | the caller: `also` has been cancelled   |
 * | the rest      | the caller, before the first hand; then nobody                               |
 */
#include "par/pipe_crew.h"
#include "par/par.h"
#include "par/turn.h"

#include "core/event.h"
#include "core/go.h"
#include "core/job.h"
#include "core/report.h"

#include <filch/pipe.h>

#define TOKENS_EACH 4    /* for each worker, if nobody says how many */
#define YIELD_US 200     /* a hand that never waits lets others run so often */

struct pipe {
    struct par par;
    const filch_stage *stages;
    size_t count;
    size_t token_count;
    struct token *tokens;
    struct turn *turns;      /* of each stage */
    void *memory;
    uint64_t patience;       /* ticks */
    bool heard;
    filch_scope scope;
    struct crew crew;
};

/* ---- stages --------------------------------------------------------------------------------- */

static void stop(struct pipe *p, int error)
{
    par_stop(&p->par, error);
    filch_scope_cancel(&p->scope);
}

/* False: it is to stop, and the token stays as it is. */
static bool run_stage(struct pipe *p, struct token *t)
{
    const filch_stage *s = &p->stages[t->stage];
    if (par_stopped(&p->par))
        return false;
    filch_task_rename(s->name ? s->name : p->par.name);
    int error = s->run(&t->item, s->arg);
    if (error)
        stop(p, error);
    return !error;
}

/* ---- hands come ----------------------------------------------------------------------------- */

static void hand(void *pipe);

/* The crew has counted it. */
static void call_hand(struct pipe *p)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.name = p->par.name;
    a.pool = p->par.pool;
    a.large_stack = 1;
    int error = go_always(&a, hand, p);
    if (error) {
        stop(p, error);
        crew_not_called(&p->crew);
    }
}

static void call_if(struct pipe *p, bool wanted)
{
    if (wanted)
        call_hand(p);
}

/* ---- a token goes on ------------------------------------------------------------------------ */

/* The first stage. False: the token is left there. */
static bool fetch(struct pipe *p, struct token *t)
{
    if (!run_stage(p, t))
        return false;
    bool item = t->item;
    t->through = item && p->count == 1;
    t->stage = item ? 1 : p->count;
    call_if(p, crew_fetched(&p->crew, t, item));
    return true;
}

static bool enter(struct pipe *p, struct token *t)
{
    if (t->inside)
        return true; /* it was left here, and its turn has come */
    t->inside = true; /* when anybody sees it next */
    return turn_enter(&p->turns[t->stage], t->number, t);
}

/* After a serial stage: another token may go on, too. Which of the two does this hand carry? Its own, which
 * is warm, unless that is at its end. */
static struct token *choose(struct pipe *p, struct token *t, struct token *other)
{
    if (++t->stage < p->count) {
        call_if(p, crew_ready(&p->crew, other));
        return t;
    }
    call_if(p, crew_done(&p->crew, t));
    return other;
}

/* Without an item it goes only where it has a turn, to let it pass. */
static bool passes_by(const struct pipe *p, const struct token *t)
{
    return !t->item && p->stages[t->stage].kind != FILCH_STAGE_IN_ORDER;
}

/* One stage. Returns the token to go on with, or null: it was left there. */
static struct token *pass(struct pipe *p, struct token *t)
{
    struct turn *turn = &p->turns[t->stage];
    struct token *other = 0;
    if (!passes_by(p, t)) {
        if (turn->early && !enter(p, t))
            return 0;
        if (t->item) {
            if (!run_stage(p, t))
                return 0;
            t->through = t->stage + 1 == p->count;
        }
        t->inside = false;
        if (turn->early)
            other = turn_leave(turn);
    }
    if (other)
        return choose(p, t, other);
    t->stage++;
    return t;
}

/* Returns the token that has come to its end (it may be another one), or null. */
static struct token *carry(struct pipe *p, struct token *t)
{
    if (t->stage == 0 && !fetch(p, t))
        return 0;
    while (t && t->stage < p->count)
        t = pass(p, t);
    return t;
}

/* ---- a hand --------------------------------------------------------------------------------- */

static bool tired(const struct pipe *p, uint64_t since)
{
    return os_ticks() - since > p->patience;
}

/* Lets others run, without a token in its hand. */
static void rest(struct pipe *p, struct token *done)
{
    if (done)
        call_if(p, crew_done(&p->crew, done));
    filch_yield();
}

/* The pipeline may be gone when it returns. */
static void work(struct pipe *p)
{
    struct crew_step s = crew_look(&p->crew, true, 0, par_stopped(&p->par));
    uint64_t since = os_ticks();
    while (s.token) {
        call_if(p, s.call);
        struct token *done = carry(p, s.token);
        if (tired(p, since)) {
            rest(p, done);
            done = 0;
            since = os_ticks();
        }
        s = crew_look(&p->crew, false, done, par_stopped(&p->par));
    }
    if (s.tell)
        (void)wait_node_fire(s.tell);
}

static void hand(void *pipe)
{
    struct par_place place = par_enter(&((struct pipe *)pipe)->par);
    work(pipe);
    par_leave(&place);
}

/* ---- the caller waits ----------------------------------------------------------------------- */

static bool scope_says_stop(const struct pipe *p)
{
    return !p->heard && p->par.also && wait_canceled(p->par.also);
}

static bool gone_or_told(void *pipe)
{
    struct pipe *p = pipe;
    return scope_says_stop(p) || crew_gone(&p->crew);
}

static const struct wait_subject about_pipe = {"filch_pipe_run", "pipeline", WAIT_FOR_OBJECT,
                                               offsetof(struct pipe, par.name), 0};

/* Until all hands are gone, or the time is up, or the scope of filch_how is cancelled: the caller's own
 * reaches the hands by itself. */
static void wait_for_hands(struct pipe *p, int64_t deadline)
{
    struct wait w;
    struct wait_node n = {.wait = &w};
    wait_begin_firm(&w);
    wait_about(&w, &about_pipe, p);
    w.token = p->heard ? 0 : p->par.also;
    if (!crew_await(&p->crew, &n) || wait_park(&w, deadline) == WAIT_WOKEN)
        return;
    if (!crew_await_no_more(&p->crew))
        wait_node_settle(&n);
}

static void await(struct pipe *p)
{
    while (!crew_gone(&p->crew)) {
        job_help_outside(p->par.pool, gone_or_told, p);
        if (!scope_says_stop(p))
            wait_for_hands(p, event_deadline(p->par.pool, FILCH_FOREVER));
        if (scope_says_stop(p)) {
            p->heard = true;
            stop(p, -ECANCELED);
        }
    }
}

/* A caller that cannot leave its thread to others must not wait for hands that may need it. (A guest
 * leaves its seat.) */
static bool alone(const struct pipe *p)
{
    struct worker *w = worker_self();
    return w && w->pool == p->par.pool && !w->guest && !wait_suspends();
}

static void run_alone(struct pipe *p)
{
    const char *name = filch_task_name();
    p->crew.limit = 1;
    hand(p);
    filch_task_rename(name);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* One block: a line of the cache for each stage, the tokens, and the places of those who come early to serial
 * stages. The first stage has no turns: the crew knows who is there. */
static size_t places_for(size_t tokens)
{
    size_t n = 1;
    while (n < tokens)
        n *= 2;
    return n;
}

static size_t bytes_for(const struct pipe *p)
{
    size_t lines = p->count + p->token_count, rings = p->count * places_for(p->token_count);
    return (lines + 1) * 64 + rings * sizeof(void *);
}

static void lay_out(struct pipe *p)
{
    size_t ring = places_for(p->token_count);
    uintptr_t at = ((uintptr_t)p->memory + 63) & ~(uintptr_t)63;
    p->turns = (struct turn *)at;
    p->tokens = (struct token *)(p->turns + p->count);
    void **early = (void **)(p->tokens + p->token_count);
    memset(early, 0, p->count * ring * sizeof *early);
    for (size_t i = 0; i < p->count; i++) {
        enum filch_stage_kind kind = p->stages[i].kind;
        p->turns[i] = (struct turn){.gives = kind == FILCH_STAGE_SERIAL, .mask = ring - 1};
        if (i > 0 && kind != FILCH_STAGE_PARALLEL)
            p->turns[i].early = early + i * ring;
    }
}

static int make(struct pipe *p)
{
    size_t limit = p->par.how.workers > 0 ? (size_t)p->par.how.workers : SIZE_MAX;
    if (p->token_count > PTRDIFF_MAX / 256 / p->count)
        return -ENOMEM;
    p->memory = par_scratch(&p->par, bytes_for(p));
    if (!p->memory)
        return -ENOMEM;
    lay_out(p);
    crew_init(&p->crew, limit < p->token_count ? limit : p->token_count,
              p->stages[0].kind == FILCH_STAGE_PARALLEL);
    for (size_t i = p->token_count; i > 0; i--)
        crew_give(&p->crew, &p->tokens[i - 1]);
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void check_stages(const filch_stage *stages, size_t count, const char *call)
{
    if (!stages || count == 0)
        report_misuse(call, "no stages");
    for (size_t i = 0; i < count; i++) {
        if (!stages[i].run)
            report_misuse_named(call, "a stage without a function", stages[i].name);
        if ((unsigned)stages[i].kind > FILCH_STAGE_PARALLEL)
            report_misuse_named(call, "a stage of no known kind", stages[i].name);
    }
}

/* Returns what the pipeline does: it is well if every item is through, whatever came afterwards. */
static int run(struct pipe *p)
{
    int rc = filch_scope_open_on(&p->scope, p->par.pool);
    if (rc != 0)
        return rc;
    p->par.token = (struct wait_token *)&p->scope;
    p->patience = YIELD_US * os_ticks_per_us();
    if (alone(p)) {
        run_alone(p);
    } else {
        call_hand(p);
        await(p);
    }
    (void)filch_scope_close(&p->scope);
    if (p->crew.ended && p->crew.out == 0)
        return 0;
    return p->par.stop ? p->par.error : -ECANCELED;
}

static void drop_all(struct pipe *p, void (*drop)(void *item, void *arg), void *arg)
{
    for (size_t i = 0; i < p->token_count; i++)
        if (p->tokens[i].item)
            drop(p->tokens[i].item, arg);
}

static int pipe_run(struct pipe *p, size_t tokens, void (*drop)(void *item, void *arg), void *arg,
                    size_t *through)
{
    p->token_count = tokens > 0 ? tokens : TOKENS_EACH * (size_t)par_workers(&p->par);
    int rc = make(p);
    if (rc == 0)
        rc = run(p);
    if (through)
        *through = p->crew.through;
    if (rc != 0 && drop && p->memory)
        drop_all(p, drop, arg);
    par_scratch_free(&p->par, p->memory);
    return rc;
}

int filch_pipe_run(const filch_stage *stages, size_t count, void (*drop)(void *item, void *arg), void *arg)
{
    struct pipe p = {.stages = stages, .count = count};
    check_stages(stages, count, "filch_pipe_run");
    par_begin(&p.par, 0, "filch_pipe_run");
    return pipe_run(&p, 0, drop, arg, 0);
}

int filch_pipe_run_with(const filch_how *how, const filch_stage *stages, size_t count, size_t tokens,
                        void (*drop)(void *item, void *arg), void *arg, size_t *through)
{
    struct pipe p = {.stages = stages, .count = count};
    check_stages(stages, count, "filch_pipe_run_with");
    par_begin(&p.par, how, "filch_pipe_run_with");
    return pipe_run(&p, tokens, drop, arg, through);
}
