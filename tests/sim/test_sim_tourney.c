/* test_sim_tourney.c: the tournament tree against a search through all keys. */
#include "sim/tourney.h"
#include "base/rng.h"
#include "check.h"

static void a_new_tree_has_no_event(void)
{
    struct tourney t;
    CHECK_EQ(tourney_init(&t, 5), 0);
    CHECK_EQ(t.leaves, 8);
    CHECK_EQ(tourney_first_key(&t), (intmax_t)TOURNEY_NONE);
    CHECK_EQ(tourney_first(&t), 0);
    tourney_free(&t);
}

static void a_key_gives_back_its_time_and_kind(void)
{
    int64_t most = (int64_t)1 << 59;
    CHECK_EQ(tourney_time(tourney_key(most, 7)), most);
    CHECK_EQ(tourney_kind(tourney_key(most, 7)), 7);
    CHECK(tourney_key(most, 7) < TOURNEY_NONE);
    CHECK(tourney_key(4, 7) < tourney_key(5, 0));
    CHECK(tourney_key(5, 1) < tourney_key(5, 2));
}

static void of_equal_keys_the_first_leaf_wins(void)
{
    struct tourney t;
    CHECK_EQ(tourney_init(&t, 7), 0);
    for (uint32_t i = 7; i-- > 0;) {
        tourney_set(&t, i, 40);
        CHECK_EQ(tourney_first(&t), i);
    }
    for (uint32_t i = 0; i < 6; i++) {
        tourney_set(&t, i, 41);
        CHECK_EQ(tourney_first(&t), i + 1);
    }
    tourney_free(&t);
}

static void one_leaf_is_a_tree(void)
{
    struct tourney t;
    CHECK_EQ(tourney_init(&t, 1), 0);
    tourney_set(&t, 0, 9);
    CHECK_EQ(tourney_first(&t), 0);
    CHECK_EQ(tourney_first_key(&t), 9);
    tourney_clear(&t);
    CHECK_EQ(tourney_first_key(&t), (intmax_t)TOURNEY_NONE);
    tourney_free(&t);
}

static void zero_or_too_many_leaves_are_refused(void)
{
    struct tourney t;
    CHECK_EQ(tourney_init(&t, 0), -EINVAL);
    CHECK_EQ(tourney_init(&t, TOURNEY_LEAVES_MAX + 1u), -EINVAL);
    tourney_free(&t);
}

static uint32_t plain_first(const uint64_t *keys, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (keys[i] < keys[best])
            best = i;
    }
    return best;
}

static void compare_with_search(uint32_t count, struct rng *rng)
{
    uint64_t keys[130];
    struct tourney t;
    CHECK_EQ(tourney_init(&t, count), 0);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = TOURNEY_NONE;
    for (int step = 0; step < 400; step++) {
        uint32_t leaf = rng_below(rng, count);
        keys[leaf] = rng_below(rng, 8) == 0 ? TOURNEY_NONE : rng_below(rng, 2 * count);
        tourney_set(&t, leaf, keys[leaf]);
        CHECK_EQ(tourney_first(&t), plain_first(keys, count));
        CHECK_EQ(tourney_first_key(&t), (intmax_t)keys[plain_first(keys, count)]);
        CHECK_EQ(tourney_leaf_key(&t, leaf), (intmax_t)keys[leaf]);
    }
    tourney_free(&t);
}

static void the_winner_is_what_a_search_through_all_keys_finds(void)
{
    struct rng rng;
    rng_seed(&rng, 1);
    for (uint32_t count = 1; count <= 130; count++)
        compare_with_search(count, &rng);
}

int main(void)
{
    RUN(a_new_tree_has_no_event);
    RUN(a_key_gives_back_its_time_and_kind);
    RUN(of_equal_keys_the_first_leaf_wins);
    RUN(one_leaf_is_a_tree);
    RUN(zero_or_too_many_leaves_are_refused);
    RUN(the_winner_is_what_a_search_through_all_keys_finds);
    return check_report();
}
