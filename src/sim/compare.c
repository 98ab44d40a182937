#include "sim/compare.h"

static enum estimate_verdict turned(enum estimate_verdict v)
{
    if (v == ESTIMATE_NO_DIFFERENCE)
        return v;
    return v == ESTIMATE_BETTER ? ESTIMATE_WORSE : ESTIMATE_BETTER;
}

struct comparison compare(const struct replications *base, const struct replications *variant, enum metric m,
                          double level)
{
    struct comparison c = {.same = true};
    struct paired pairs = {0};
    for (uint64_t i = 0; i < base->n && i < variant->n; i++) {
        double first = base->value[i][m], second = variant->value[i][m];
        paired_add(&pairs, first, second);
        summary_add(&c.variant, second);
        c.same &= first == second;
    }
    c.base = pairs.base;
    c.result = paired_judge(&pairs, level);
    if (metric_more_is_better(m))
        c.result.verdict = turned(c.result.verdict);
    return c;
}
