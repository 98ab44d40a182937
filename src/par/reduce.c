/* reduce.c: reductions over the engine of split.h: the state goes from piece to piece, and is combined where
 * somebody stole. */
#include "par/split.h"

#include "core/report.h"

#include <filch/par.h>

static void fresh(struct split *s, void *state)
{
    const filch_reducer *r = s->what;
    if (r->identity)
        r->identity(state, s->arg);
    else
        memset(state, 0, r->state_size);
}

static int fold(struct split *s, size_t lo, size_t hi, void *state)
{
    const filch_reducer *r = s->what;
    r->fold(state, lo, hi, s->arg);
    return 0;
}

static void combine(struct split *s, void *left, const void *right)
{
    const filch_reducer *r = s->what;
    r->combine(left, right, s->arg);
}

static void begin(struct split *s, const filch_how *how, void *result, size_t lo, size_t hi, const char *call)
{
    const filch_reducer *r = s->what;
    if (!r || !r->fold || !r->combine || r->state_size == 0 || !result)
        report_misuse(call, "null result, or a reducer without fold, combine or size");
    if (lo > hi)
        report_misuse(call, "the range ends before it begins");
    par_begin(&s->par, how, call);
    s->piece = fold;
    s->fresh = fresh;
    s->combine = combine;
    s->state_size = r->state_size;
}

static int reduce(const filch_how *how, const filch_reducer *reducer, void *result, size_t lo, size_t hi,
                  void *arg, const char *call)
{
    struct split s = {.what = reducer, .arg = arg};
    begin(&s, how, result, lo, hi, call);
    fresh(&s, result);
    split_run(&s, lo, hi, result);
    return par_end(&s.par);
}

static int reduce_fixed(const filch_how *how, const filch_reducer *reducer, void *result, size_t lo,
                        size_t hi, void *arg, const char *call)
{
    struct split s = {.what = reducer, .arg = arg};
    begin(&s, how, result, lo, hi, call);
    split_run_fixed(&s, lo, hi, result);
    return par_end(&s.par);
}

int filch_reduce(const filch_reducer *reducer, void *result, size_t lo, size_t hi, void *arg)
{
    return reduce(0, reducer, result, lo, hi, arg, "filch_reduce");
}

int filch_reduce_with(const filch_how *how, const filch_reducer *reducer, void *result, size_t lo, size_t hi,
                      void *arg)
{
    return reduce(how, reducer, result, lo, hi, arg, "filch_reduce_with");
}

int filch_reduce_fixed(const filch_reducer *reducer, void *result, size_t lo, size_t hi, void *arg)
{
    return reduce_fixed(0, reducer, result, lo, hi, arg, "filch_reduce_fixed");
}

int filch_reduce_fixed_with(const filch_how *how, const filch_reducer *reducer, void *result, size_t lo,
                            size_t hi, void *arg)
{
    return reduce_fixed(how, reducer, result, lo, hi, arg, "filch_reduce_fixed_with");
}
