/* test_reduce.cpp: reductions to values of all kinds. */
#include "kit.hpp"

#include <vector>

static void all_ways_to_fold_give_the_sum()
{
    filch::pool pool = kit_pool(3);
    filch::how h = fine(pool);
    const long n = 20000, sum = n * (n - 1) / 2;
    auto plus = [](long a, long b) { return a + b; };
    auto add = [](long &a, long b) { a += b; };
    auto map = [](long i) { return i; };
    auto value = [](long acc, long i) { return acc + i; };
    auto place = [](long &acc, long i) { acc += i; };
    auto ranges = [](long &acc, long lo, long hi) {
        for (long i = lo; i < hi; i++)
            acc += i;
    };
    auto range_value = [=](long acc, long lo, long hi) {
        ranges(acc, lo, hi);
        return acc;
    };
    CHECK_EQ(filch::reduce(h, 0, n, 0L, map, std::plus<>()), sum);
    CHECK_EQ(filch::reduce(h, 0, n, 0L, map, add), sum);
    CHECK_EQ(filch::reduce(h, 0, n, 0L, value, plus), sum);
    CHECK_EQ(filch::reduce(h, 0, n, 0L, place, add), sum);
    CHECK_EQ(filch::reduce(h, 0, n, 0L, ranges, plus), sum);
    CHECK_EQ(filch::reduce(h, 0, n, 0L, range_value, std::plus<>()), sum);
    CHECK_EQ(filch::reduce_fixed(h, 0, n, 0L, place, add), sum);
    CHECK_EQ(filch::reduce_fixed(0, n, 0L, range_value, std::plus<>()), sum);
    CHECK(filch::reduce<double>(0, 10, 0, [](int) { return .5; }, std::plus<>()) == 5.);
}

/* Concatenation is associative and not commutative. */
static void strings_are_put_together_in_order()
{
    filch::pool pool = kit_pool(3);
    const int n = 3000;
    std::string want;
    for (int i = 0; i < n; i++)
        want += std::to_string(i) + ",";
    auto fold = [](std::string &s, int i) { s += std::to_string(i) + ","; };
    auto combine = [](std::string &a, const std::string &b) { a += b; };
    for (size_t round = 0; round < scaled(200); round++) {
        CHECK(filch::reduce(fine(pool), 0, n, std::string(), fold, combine) == want);
        CHECK(filch::reduce_fixed(pool, 0, n, std::string(), fold, std::plus<>()) == want);
    }
}

static void vectors_are_gathered_in_order()
{
    filch::pool pool = kit_pool(3);
    using ints = std::vector<int>;
    auto gather = [](ints &to, int i) {
        if (i % 3 == 0)
            to.push_back(i);
    };
    auto append = [](ints &a, ints &&b) { a.insert(a.end(), b.begin(), b.end()); };
    auto v = filch::reduce(fine(pool), 0, 10000, ints(), gather, append);
    CHECK_EQ(v.size(), 3334);
    for (size_t i = 0; i < v.size(); i++)
        CHECK_EQ(v[i], 3 * i);
}

static void every_state_is_destroyed()
{
    filch::pool pool = kit_pool(3);
    auto add = [](counted &a, const counted &b) { a.value += b.value; };
    for (int round = 0; round < 100; round++) {
        auto fold = [](counted &a, int i) { a.value += i; };
        auto map = [](int i) { return counted(i); };
        CHECK_EQ(filch::reduce(fine(pool), 0, 500, counted(0), fold, add).value, 124750);
        CHECK_EQ(filch::reduce_fixed(fine(pool), 0, 500, counted(0), map, add).value, 124750);
    }
    CHECK_EQ(counted::alive, 0);
}

static void every_state_is_destroyed_after_an_exception()
{
    filch::pool pool = kit_pool(3);
    auto add = [](counted &a, const counted &b) {
        if (b.value == -7)
            throw std::runtime_error("combine");
        a.value += b.value;
    };
    for (int round = 0; round < 100; round++) {
        auto bad_fold = [&](counted &, int i) {
            if (i == 5 * round)
                throw std::runtime_error("fold");
        };
        auto bad_sum = [&](counted &a, int) { a.value = -7; };
        filch::how h = fine(pool);
        auto any = [&](long from, auto &fold) {
            return what_of([&] { (void)filch::reduce(h, 0, 500, counted(from), fold, add); });
        };
        auto fixed = [&](long from, auto &fold) {
            return what_of([&] { (void)filch::reduce_fixed(h, 0, 500, counted(from), fold, add); });
        };
        CHECK(any(0, bad_fold) == "fold");
        CHECK(fixed(0, bad_fold) == "fold");
        CHECK(fixed(0, bad_sum) == "combine");
        CHECK(any(-1, bad_sum) == "cannot be copied");
        CHECK(fixed(-1, bad_sum) == "cannot be copied");
    }
    CHECK_EQ(counted::alive, 0);
}

struct alignas(128) wide {
    long sum = 0;
    char rest[100] = {};
};

static void states_are_aligned()
{
    filch::pool pool = kit_pool(3);
    auto aligned = [](const wide &w) { return reinterpret_cast<uintptr_t>(&w) % 128 == 0; };
    auto fold = [&](wide &w, int i) {
        CHECK(aligned(w));
        w.sum += i;
    };
    auto combine = [&](wide &a, const wide &b) {
        CHECK(aligned(a) && aligned(b));
        a.sum += b.sum;
    };
    for (int round = 0; round < 50; round++) {
        CHECK_EQ(filch::reduce(fine(pool), 0, 1000, wide(), fold, combine).sum, 499500);
        CHECK_EQ(filch::reduce_fixed(fine(pool), 0, 1000, wide(), fold, combine).sum, 499500);
    }
}

static void the_fixed_sum_has_the_same_bits_on_any_pool()
{
    std::vector<double> v(scaled(200000));
    for (size_t i = 0; i < v.size(); i++)
        v[i] = 1. / static_cast<double>(i + 1);
    auto sum = [&](int workers) {
        filch::pool pool = kit_pool(workers);
        return filch::reduce_fixed(pool, 0, v.size(), 0., [&](size_t i) { return v[i]; }, std::plus<>());
    };
    double one = sum(1);
    for (int w = 2; w < 5; w++)
        CHECK(sum(w) == one);
}

int main()
{
    RUN(all_ways_to_fold_give_the_sum);
    RUN(strings_are_put_together_in_order);
    RUN(vectors_are_gathered_in_order);
    RUN(every_state_is_destroyed);
    RUN(every_state_is_destroyed_after_an_exception);
    RUN(states_are_aligned);
    RUN(the_fixed_sum_has_the_same_bits_on_any_pool);
    return check_report();
}
