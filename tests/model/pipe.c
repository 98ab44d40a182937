/* pipe.c: models of pipelines (par/pipe.c, par/pipe_crew.h, par/turn.h): no item is left lying, turns are
 * kept, the caller is woken, and nobody touches the pipeline afterwards. The hands are threads; scopes are
 * played. */
#include "mc.h"

#include "core/event.h"
#include "core/go.h"
#include "core/job.h"
#include "core/join.h"
#include "core/run.h"
#include "core/yield.h"
#include "par/par.h"

#include <filch/pipe.h>

static filch_pool pool;
static struct wait_token how_token; /* of the scope in filch_how */
static bool scope_open, has_scope, refuses;
static uint32_t scope_canceled;

/* ---- played: tasks, scopes, and the beginning of a call --------------------------------------- */

int go_always(const filch_task_attr *attr, void (*fn)(void *arg), void *arg)
{
    (void)attr;
    if (refuses && mc_choose(2))
        return -ENOMEM;
    mc_thread(fn, arg);
    return 0;
}

int filch_scope_open_on(filch_scope *scope, filch_pool *p)
{
    (void)scope, (void)p;
    scope_open = true;
    return 0;
}

int filch_scope_close(filch_scope *scope)
{
    (void)scope;
    scope_open = false; /* plain: who cancels it afterwards races with this */
    return 0;
}

void filch_scope_cancel(filch_scope *scope)
{
    (void)scope;
    mc_check(scope_open);
    filch_store_relaxed(&scope_canceled, 1u);
}

void par_begin(struct par *p, const filch_how *how, const char *call)
{
    (void)how;
    *p = (struct par){.name = call, .pool = &pool, .also = has_scope ? &how_token : 0};
}

bool par_stopped(const struct par *p)
{
    return filch_load_relaxed(&p->stop) || filch_load_relaxed(&scope_canceled);
}

void par_stop(struct par *p, int error)
{
    uint32_t running = 0;
    if (filch_cas_relaxed(&p->stop, &running, 1u))
        p->error = error;
}

int par_workers(const struct par *p) { (void)p; return 1; }
struct par_place par_enter(const struct par *p) { (void)p; return (struct par_place){0}; }
void par_leave(const struct par_place *place) { (void)place; }
void *par_scratch(const struct par *p, size_t size) { (void)p; return os_alloc(size); }
void par_scratch_free(const struct par *p, void *scratch) { (void)p; os_free(scratch); }

void filch_task_rename(const char *name) { (void)name; }
const char *filch_task_name(void) { return 0; }
void filch_yield(void) {}
void yield_somehow(void) {}

/* ---- played: the rest of the core --------------------------------------------------------------- */

bool run_suspend(struct worker *w, bool (*publish)(struct fiber *from, void *arg), void *arg)
{
    (void)w, (void)publish, (void)arg;
    return false;
}

void run_guest(filch_pool *p, struct fiber *below, bool (*until)(void *), void *arg)
{
    (void)p, (void)below, (void)until, (void)arg;
}

void job_help_outside(filch_pool *p, bool (*until)(void *), void *arg) { (void)p, (void)until, (void)arg; }
void run_ready_from(struct worker *me, struct fiber *f) { (void)me, (void)f; }
bool run_suspend_for(struct worker *w, work_item it, bool (*publish)(struct fiber *from, void *arg),
                     void *arg)
{
    (void)it;
    return run_suspend(w, publish, arg);
}
work_item find_at_hand(struct worker *w) { (void)w; return 0; }
void find_expose(struct fiber *f) { (void)f; }
void find_hide(struct fiber *f) { (void)f; }
void idle_notify(filch_pool *p, struct worker *w) { (void)p, (void)w; }
bool idle_crippled(filch_pool *p) { (void)p; return false; }
struct away idle_seat_step_out(struct worker *w) { return (struct away){w->body, w->fiber, w->guest}; }
void idle_seat_step_in(struct worker *w, struct away away) { (void)w, (void)away; }
bool join_run_own(struct worker *w, struct fiber *f) { (void)w, (void)f; return false; }
int64_t event_deadline(filch_pool *p, int64_t deadline) { (void)p; return deadline; }

/* ---- the stages: all words are plain ------------------------------------------------------------ */

enum { MOST = 4 };

struct thing {
    unsigned number, visits, ended, dropped;
};

static struct thing things[MOST];
static unsigned count, made, next, inside, fails_at = MOST, filters_at = MOST;

static int source(void **item, void *arg)
{
    (void)arg;
    mc_check(inside++ == 0);
    if (made < count) {
        things[made].number = made;
        *item = &things[made++];
    }
    inside--;
    return 0;
}

static int middle(void **item, void *arg)
{
    struct thing *t = *item;
    (void)arg;
    t->visits++;
    if (t->number == fails_at)
        return 5;
    if (t->number == filters_at) {
        t->ended++;
        *item = 0;
    }
    return 0;
}

static int in_order(void **item, void *arg)
{
    struct thing *t = *item;
    (void)arg;
    mc_check(t->number == next + (next == filters_at));
    next = t->number + 1;
    t->visits++;
    t->ended++;
    return 0;
}

static int as_they_come(void **item, void *arg)
{
    struct thing *t = *item;
    (void)arg;
    next++;
    t->visits++;
    t->ended++;
    return 0;
}

static void drop(void *item, void *arg)
{
    (void)arg;
    ((struct thing *)item)->dropped++;
}

static const filch_stage ordered[] = {{source, 0, FILCH_STAGE_IN_ORDER, 0},
                                      {middle, 0, FILCH_STAGE_PARALLEL, 0},
                                      {in_order, 0, FILCH_STAGE_IN_ORDER, 0}};
static const filch_stage serial[] = {{source, 0, FILCH_STAGE_IN_ORDER, 0},
                                     {as_they_come, 0, FILCH_STAGE_SERIAL, 0}};

static int run(const filch_stage *stages, size_t n, size_t tokens)
{
    size_t through = MOST;
    int rc = filch_pipe_run_with(0, stages, n, tokens, drop, 0, &through);
    unsigned ended = 0;
    for (unsigned i = 0; i < made; i++) {
        mc_check(things[i].ended + things[i].dropped == 1);
        ended += things[i].ended;
    }
    mc_check(ended == through + (rc == 0 && filters_at < count));
    mc_check(rc != 0 || ended == count);
    mc_join_all();
    return rc;
}

static void pipe_keeps_the_order(void)
{
    count = 2;
    mc_check(run(ordered, 3, 2) == 0);
}
MC_MODEL(pipe_keeps_the_order, .claim = "items come in order to the last stage, each once, and the call ends",
         .preemptions = 2, .stale = 1);

static void pipe_goes_on_with_what_was_left(void)
{
    count = 3;
    mc_check(run(serial, 2, 2) == 0);
}
MC_MODEL(pipe_goes_on_with_what_was_left,
         .claim = "what was left at a serial stage is seen to by who comes out", .preemptions = 2,
         .stale = MC_ZERO);

static void pipe_filters(void)
{
    count = 2;
    filters_at = mc_choose(2);
    mc_check(run(ordered, 3, 2) == 0);
}
MC_MODEL(pipe_filters, .claim = "an item that is filtered out lets its turn pass", .preemptions = 2,
         .stale = MC_ZERO);

static void pipe_fails(void)
{
    count = 2;
    fails_at = mc_choose(2);
    mc_check(run(ordered, 3, 2) == 5);
}
MC_MODEL(pipe_fails, .claim = "an error ends it, and what is in flight is dropped once", .preemptions = 2,
         .stale = 1);

static void pipe_gets_no_hands(void)
{
    count = 2;
    refuses = true;
    int rc = run(ordered, 3, 2);
    mc_check(rc == 0 || rc == -ENOMEM);
}
MC_MODEL(pipe_gets_no_hands, .claim = "a task that cannot be made ends it just so", .preemptions = 2,
         .stale = MC_ZERO);

static void cancels(void *unused)
{
    (void)unused;
    (void)wait_cancel_all(&how_token);
}

static void pipe_is_cancelled(void)
{
    count = 1;
    has_scope = true;
    mc_thread(cancels, 0);
    int rc = run(serial, 2, 1);
    mc_check(rc == 0 || rc == -ECANCELED);
}
MC_MODEL(pipe_is_cancelled, .claim = "a scope that is cancelled meanwhile ends it, and its wait once",
         .preemptions = 2, .stale = MC_ZERO);
