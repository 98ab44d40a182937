/* scan.c: models of the chain of a scan (par/scan.c): strands, blocks, links, events. The engine below is
 * played: each strand is a thread. */
#include "mc.h"

#include "par/split.h"

#include <string.h>

/* ---- played: the call, and the engine --------------------------------------------------------- */

static int strands;
static uint32_t who; /* nobody is on a fiber: declining is for the tests of the whole */

void par_begin(struct par *p, const filch_how *how, const char *call)
{
    (void)call;
    *p = (struct par){.how = *how};
}

int par_workers(const struct par *p)
{
    (void)p;
    return strands;
}

bool par_stopped(const struct par *p)
{
    return filch_load_relaxed(&p->stop);
}

bool par_lasts(struct par *p, uint64_t now)
{
    (void)p, (void)now; /* everybody is there already */
    return false;
}

void par_stop(struct par *p, int error)
{
    uint32_t running = 0;
    if (filch_cas_relaxed(&p->stop, &running, 1u))
        p->error = error;
}

int par_end(const struct par *p)
{
    return p->stop ? p->error : 0;
}

size_t par_bytes(size_t n, size_t size)
{
    return n * size;
}

static void runs_strand(void *split)
{
    struct split *s = split;
    size_t i = filch_add_relaxed(&who, 1u);
    int error = s->piece(s, i, i + 1, 0);
    if (error)
        par_stop(&s->par, error);
}

void split_run(struct split *s, size_t lo, size_t hi, void *state)
{
    (void)lo, (void)state;
    for (size_t i = 1; i < hi; i++)
        mc_thread(runs_strand, s);
    runs_strand(s);
    mc_join_all();
}

/* Copies as the compiler announces them: those of libc would not be seen. */
static void copy_words(void *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size / sizeof(uint64_t); i++)
        ((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

#define memcpy(to, from, size) copy_words(to, from, size)
#define SPINS 1
#include "par/scan.c"
#undef memcpy

/* ---- sums of powers of two: which elements are in a sum is seen ----------------------------- */

enum { MOST = 5 };
static uint64_t after[MOST];
static struct par *stops;   /* the block that stops everything, and at which call */
static size_t stops_at;
static bool stops_in_fold;

static void adds(void *state, size_t lo, size_t hi, void *arg)
{
    (void)hi, (void)arg;
    *(uint64_t *)state += (uint64_t)1 << lo;
    if (stops && stops_in_fold && lo == stops_at)
        par_stop(stops, -ECANCELED);
}

static void scans(void *state, size_t lo, size_t hi, void *arg)
{
    (void)hi, (void)arg;
    mc_check(*(uint64_t *)state == ((uint64_t)1 << lo) - 1);
    mc_check(after[lo] == 0);
    *(uint64_t *)state += (uint64_t)1 << lo;
    after[lo] = *(uint64_t *)state;
    if (stops && !stops_in_fold && lo == stops_at)
        par_stop(stops, -ECANCELED);
}

static void combines(void *state, const void *right, void *arg)
{
    (void)arg;
    *(uint64_t *)state += *(const uint64_t *)right;
}

static const filch_scanner adding = {sizeof(uint64_t), 0, adds, scans, combines};

static void scan_all(int threads, size_t blocks)
{
    uint64_t total = 0;
    filch_how how = FILCH_HOW_INIT;
    how.grain = 1;
    strands = threads;
    mc_check(filch_scan_with(&how, &adding, &total, 0, blocks, 0) == 0);
    mc_check(total == ((uint64_t)1 << blocks) - 1);
    for (size_t i = 0; i < blocks; i++)
        mc_check(after[i] == ((uint64_t)2 << i) - 1);
}

static void two_by_two(void) { scan_all(2, 2); }
MC_MODEL(two_by_two, .claim = "[L1] a block is scanned with the sum of all before it", .preemptions = 3,
         .stale = 1, .spurious = MC_ZERO);

static void two_by_four(void) { scan_all(2, 4); }
MC_MODEL(two_by_four, .claim = "[L2] a link is used again when its block has taken its prefix",
         .preemptions = 2, .stale = 1, .spurious = MC_ZERO);

static void three_by_three(void) { scan_all(3, 3); }
MC_MODEL(three_by_three, .claim = "[L3] who waits is woken, also by an event that was set late",
         .preemptions = 1, .stale = 1, .spurious = MC_ZERO);

/* Everything stops at a block: nobody waits for ever, and what was scanned is right. */
static void stopped_at(int threads, size_t blocks)
{
    struct chain c = {.split = {.piece = strand}, .scanner = &adding, .hi = blocks};
    filch_how how = FILCH_HOW_INIT;
    how.grain = 1;
    strands = threads;
    par_begin(&c.split.par, &how, "stopped_at");
    stops = &c.split.par;
    stops_at = mc_choose((unsigned)blocks);
    stops_in_fold = mc_choose(2);
    int rc = run(&c, 0);
    mc_check(rc == -ECANCELED || (rc == 0 && stops_in_fold));
    for (size_t i = 0; i < blocks; i++)
        mc_check(after[i] == 0 || after[i] == ((uint64_t)2 << i) - 1);
}

static void two_stopped(void) { stopped_at(2, 3); }
MC_MODEL(two_stopped, .claim = "[L3] a scan that is stopped ends", .preemptions = 2, .stale = 1,
         .spurious = MC_ZERO);

static void three_stopped(void) { stopped_at(3, 3); }
MC_MODEL(three_stopped, .claim = "[L3] so it does with three strands", .preemptions = 1, .stale = 1,
         .spurious = MC_ZERO);
