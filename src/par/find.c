/* find.c: searches that stop the others.
 *
 * | field | writer              | reader               | invariant                                      |
 * | best  | who has a hit (CAS) | every piece; caller  | the lowest index of a hit so far, or `hi`      |
 *
 * [F2] `best` only falls. A stale value costs a piece, as with `stop` (par.h [P1]); the caller reads it
 *      after all pieces have ended.
 */
#include "par/split.h"

#include "core/report.h"

#include <filch/par.h>

typedef size_t find_fn(size_t lo, size_t hi, void *arg);

struct search {
    find_fn *find;
    size_t best;
    bool first;
};

/* Notes a hit. */
static void hit(struct search *f, size_t where)
{
    size_t best = filch_load_relaxed(&f->best); /* order: [F2] */
    while (where < best && !filch_cas_relaxed(&f->best, &best, where)) /* order: [F2] */
        continue;
}

static int look(struct split *s, size_t lo, size_t hi, void *state)
{
    struct search *f = *(struct search *const *)s->what;
    (void)state;
    size_t best = filch_load_relaxed(&f->best); /* order: [F2] */
    if (lo >= best)
        return 0; /* nothing here can be before it */
    size_t end = hi < best ? hi : best, where = f->find(lo, end, s->arg);
    if (where >= end)
        return 0;
    if (where < lo)
        report_misuse(s->par.name, "found something before the range it was given");
    hit(f, where);
    if (!f->first)
        par_stop(&s->par, 0);
    return 0;
}

static int run(struct search *f, const filch_how *how, size_t lo, size_t hi, void *arg, size_t *where,
               const char *call)
{
    struct split s = {.piece = look, .what = &f, .arg = arg, .exact = true};
    if (!f->find || lo > hi)
        report_misuse(call, "null function, or a range that ends before it begins");
    par_begin(&s.par, how, call);
    f->best = hi;
    split_run(&s, lo, hi, 0);
    if (f->best < hi && where)
        *where = f->best;
    int rc = par_end(&s.par);
    /* What is found by chance counts; the first is known only if everything before it was looked at. */
    return f->best < hi && (!f->first || rc == 0) ? 1 : rc;
}

int filch_find_any(size_t lo, size_t hi, find_fn *find, void *arg, size_t *where)
{
    struct search f = {.find = find};
    return run(&f, 0, lo, hi, arg, where, "filch_find_any");
}

int filch_find_any_with(const filch_how *how, size_t lo, size_t hi, find_fn *find, void *arg, size_t *where)
{
    struct search f = {.find = find};
    return run(&f, how, lo, hi, arg, where, "filch_find_any_with");
}

int filch_find_first(size_t lo, size_t hi, find_fn *find, void *arg, size_t *where)
{
    struct search f = {.find = find, .first = true};
    return run(&f, 0, lo, hi, arg, where, "filch_find_first");
}

int filch_find_first_with(const filch_how *how, size_t lo, size_t hi, find_fn *find, void *arg, size_t *where)
{
    struct search f = {.find = find, .first = true};
    return run(&f, how, lo, hi, arg, where, "filch_find_first_with");
}

/* ---- arrays --------------------------------------------------------------------------------- */

struct tested {
    const char *base;
    size_t size;
    filch_test *test;
    void *arg;
    int wanted; /* the answer that is a hit */
};

static size_t find_element(size_t lo, size_t hi, void *arg)
{
    const struct tested *t = arg;
    for (size_t i = lo; i < hi; i++)
        if ((t->test(t->base + i * t->size, t->arg) != 0) == t->wanted)
            return i;
    return hi;
}

static struct tested tested(const void *base, size_t n, size_t size, filch_test *test, void *arg,
                            const char *call)
{
    if (!test || (n > 0 && (!base || size == 0 || par_bytes(n, size) == SIZE_MAX)))
        report_misuse(call, "null array or test, elements of size 0, or more than there can be");
    return (struct tested){base, size, test, arg, 1};
}

int filch_any(const void *base, size_t n, size_t size, filch_test *test, void *arg)
{
    struct tested t = tested(base, n, size, test, arg, "filch_any");
    struct search f = {.find = find_element};
    return run(&f, 0, 0, n, &t, 0, "filch_any");
}

int filch_all(const void *base, size_t n, size_t size, filch_test *test, void *arg)
{
    struct tested t = tested(base, n, size, test, arg, "filch_all");
    struct search f = {.find = find_element};
    t.wanted = 0;
    int found = run(&f, 0, 0, n, &t, 0, "filch_all");
    return found < 0 ? found : !found;
}

int filch_first(const void *base, size_t n, size_t size, filch_test *test, void *arg, void **where)
{
    struct tested t = tested(base, n, size, test, arg, "filch_first");
    struct search f = {.find = find_element, .first = true};
    size_t index = 0;
    int found = run(&f, 0, 0, n, &t, &index, "filch_first");
    if (where)
        *where = found > 0 ? (char *)base + index * size : 0;
    return found;
}

static void count_fold(void *state, size_t lo, size_t hi, void *arg)
{
    const struct tested *t = arg;
    size_t n = 0;
    for (size_t i = lo; i < hi; i++)
        n += t->test(t->base + i * t->size, t->arg) != 0;
    *(size_t *)state += n;
}

static void count_combine(void *state, const void *right, void *arg)
{
    (void)arg;
    *(size_t *)state += *(const size_t *)right;
}

int filch_count(const void *base, size_t n, size_t size, filch_test *test, void *arg, size_t *count)
{
    static const filch_reducer counting = {sizeof(size_t), 0, count_fold, count_combine};
    struct tested t = tested(base, n, size, test, arg, "filch_count");
    if (!count)
        report_misuse("filch_count", "null count");
    return filch_reduce(&counting, count, 0, n, &t);
}
