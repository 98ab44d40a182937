/* Random numbers: repeatable, never stuck, within their bounds. */
#include "../check.h"
#include "base/rng.h"

static void the_same_seed_gives_the_same_numbers(void)
{
    struct rng a, b, c;
    int differ = 0;
    rng_seed(&a, 12345);
    rng_seed(&b, 12345);
    rng_seed(&c, 12346);
    for (int i = 0; i < 100; i++) {
        uint64_t n = rng_next(&a);
        CHECK(n == rng_next(&b));
        differ += n != rng_next(&c);
    }
    CHECK_EQ(differ, 100);
}

/* xorshift stays at 0 for ever; this is the seed that is mixed to 0. */
static void the_seed_that_mixes_to_nothing_does_not_get_stuck(void)
{
    struct rng r;
    uint64_t seed = 0 - UINT64_C(0x9e3779b97f4a7c15), seen = 0;
    CHECK_EQ(rng_mix(seed), 0);
    rng_seed(&r, seed);
    for (int i = 0; i < 100; i++) {
        uint64_t n = rng_next(&r);
        CHECK(r.state != 0 && n != seen);
        seen = n;
    }
}

static void every_number_below_the_bound_comes_up_and_no_other(void)
{
    static const uint32_t bounds[] = {1, 2, 3, 7, 64};
    struct rng r;
    rng_seed(&r, 1);
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        int count[64] = {0};
        for (int i = 0; i < 20000; i++) {
            uint32_t n = rng_below(&r, bounds[b]);
            CHECK(n < bounds[b]);
            count[n]++;
        }
        for (uint32_t n = 0; n < bounds[b]; n++) /* the sequence is fixed: no luck is needed */
            CHECK_MSG(count[n] > 20000 / (int)bounds[b] / 2, "%u of %u: %d", n, bounds[b], count[n]);
    }
}

int main(void)
{
    RUN(the_same_seed_gives_the_same_numbers);
    RUN(the_seed_that_mixes_to_nothing_does_not_get_stuck);
    RUN(every_number_below_the_bound_comes_up_and_no_other);
    return check_report();
}
