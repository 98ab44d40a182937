/* test_loops.cpp: loops and searches with lambdas. */
#include "kit.hpp"

#include <climits>
#include <deque>
#include <numeric>
#include <vector>

/* ---- loops --------------------------------------------------------------------------------- */

static void each_index_is_seen_once()
{
    filch::pool pool = kit_pool(3);
    std::vector<int> seen(scaled(1000000));
    filch::parallel_for(0, seen.size(), [&](size_t i) { seen[i]++; });
    filch::parallel_for(pool, 0, seen.size(), [&](auto i) { seen[i]++; });
    filch::parallel_for(pool, 0, seen.size(), [&](size_t lo, size_t hi) {
        for (size_t i = lo; i < hi; i++)
            seen[i]++;
    });
    for (int s : seen)
        CHECK_EQ(s, 3);
}

static void indices_are_of_the_type_that_was_given()
{
    long sum = 0; /* one worker: no race */
    filch::pool pool = kit_pool(1);
    filch::parallel_for(pool, -5, 5, [&](int i) { sum += i; });
    CHECK_EQ(sum, -5);
    int n = 0;
    filch::parallel_for(pool, std::int8_t(-128), std::int8_t(127), [&](auto i) {
        static_assert(std::is_same_v<decltype(i), std::int8_t>);
        n++;
    });
    CHECK_EQ(n, 255);
    filch::parallel_for(pool, LONG_MIN, LONG_MAX, [&](long lo, long hi) {
        n = 0;
        if (lo == LONG_MIN)
            CHECK(hi > lo);
        if (hi == LONG_MAX)
            CHECK(lo < hi);
    });
    CHECK_EQ(n, 0);
}

static void a_range_that_ends_before_it_begins_is_empty()
{
    filch::parallel_for(5, 3, [](int) { CHECK(false); });
    filch::parallel_for(3u, 3u, [](unsigned) { CHECK(false); });
    CHECK_EQ(filch::reduce(5, 3, 42, [](int i) { return i; }, std::plus<>()), 42);
    CHECK(!filch::find_first(5, 3, [](int) { return true; }));
}

static void bodies_with_state_are_not_copied()
{
    struct adder {
        std::atomic<long> sum{0};
        void operator()(long i) { sum += i; }
    } body;
    filch::parallel_for(0, 1000, body);
    CHECK_EQ(body.sum, 499500);
    int calls = 0;
    filch::pool pool = kit_pool(1);
    auto count = [calls](int) mutable { return ++calls; };
    filch::parallel_for(pool, 0, 10, count);
    CHECK_EQ(count(0), 11);
}

static std::atomic<long> through_function;
static void add_it(int i) { through_function += i; }

static void a_function_is_a_body()
{
    filch::parallel_for(0, 100, add_it);
    CHECK_EQ(through_function, 4950);
}

static void an_exception_ends_the_loop()
{
    filch::pool pool = kit_pool(3);
    const size_t n = scaled(1000000);
    for (size_t bad = 0; bad < n; bad += n / 17) {
        std::atomic<size_t> ran{0};
        auto body = [&](size_t i) {
            if (i == bad)
                throw std::runtime_error("body");
            ran++;
        };
        CHECK_STR(what_of([&] { filch::parallel_for(pool, 0, n, body); }).c_str(), "body");
        CHECK(ran < n);
    }
}

static void nothing_begins_after_an_exception()
{
    filch::pool pool = kit_pool(1);
    int ran = 0;
    auto body = [&](int i) {
        if (i == 0)
            throw std::runtime_error("body");
        ran++;
    };
    CHECK_STR(what_of([&] { filch::parallel_for(fine(pool), 0, 1000, body); }).c_str(), "body");
    CHECK_EQ(ran, 0);
}

static void many_exceptions_are_one()
{
    filch::pool pool = kit_pool(3);
    auto bad = [&](int i) { throw counted(i); };
    for (int round = 0; round < 100; round++)
        CHECK(throws<counted>([&] { filch::parallel_for(fine(pool), 0, 1000, bad); }));
    CHECK_EQ(counted::alive, 0);
}

static void an_inner_loop_that_was_stopped_does_not_hide_why()
{
    filch::pool pool = kit_pool(3);
    for (int round = 0; round < 50; round++) {
        auto f = [&] {
            filch::parallel_for(fine(pool), 0, 64, [&](int i) {
                if (i == 40)
                    throw std::runtime_error("why");
                filch::parallel_for(0, 1000, [](int) {});
            });
        };
        CHECK_STR(what_of(f).c_str(), "why");
    }
}

static void a_cancelled_loop_throws()
{
    filch::pool pool = kit_pool(2);
    filch::scope s(pool);
    s.cancel();
    filch::how h(pool);
    h.scope = s.get();
    CHECK(throws<filch::canceled_error>([&] { filch::parallel_for(h, 0, 10, [](int) {}); }));
    auto fold = [](counted &, int) {};
    auto combine = [](counted &, counted &) {};
    CHECK(throws<filch::canceled_error>([&] { (void)filch::reduce(h, 0, 10, counted(0), fold, combine); }));
    CHECK(throws<filch::error>([&] { (void)filch::find_any(h, 0, 10, [](int) { return false; }); }));
    CHECK_EQ(s.close(), -ECANCELED);
    CHECK_EQ(counted::alive, 0);
}

static void for_each_takes_iterators_and_containers()
{
    filch::pool pool = kit_pool(2);
    std::vector<int> v(1000, 1);
    std::deque<int> d(1000, 1);
    int a[10] = {};
    filch::for_each(v, [](int &x) { x++; });
    filch::for_each(pool, v, [](int &x) { x++; });
    filch::for_each(d.begin() + 1, d.end(), [](int &x) { x++; });
    filch::for_each(pool, d.begin(), d.end(), [](int &x) { x++; });
    filch::for_each(a, [](int &x) { x++; });
    CHECK_EQ(std::accumulate(v.begin(), v.end(), 0), 3000);
    CHECK_EQ(std::accumulate(d.begin(), d.end(), 0), 2999);
    CHECK_EQ(std::accumulate(a, a + 10, 0), 10);
    const std::vector<int> fixed(10, 1);
    std::atomic<int> sum{0};
    filch::for_each(fixed, [&](const int &x) { sum += x; });
    CHECK_EQ(sum, 10);
}

/* ---- searches ------------------------------------------------------------------------------ */

static void searches_find_what_is_there()
{
    filch::pool pool = kit_pool(3);
    auto h = fine(pool);
    const int n = 20000;
    CHECK_EQ(*filch::find_first(h, 0, n, [](int i) { return i >= 777; }), 777);
    int any = *filch::find_any(h, -n, n, [](int i) { return i >= 777; });
    CHECK(any >= 777 && any < n);
    CHECK_EQ(*filch::find_any(h, -n, n, [](int i) { return i == -5; }), -5);
    CHECK(!filch::find_any(0, n, [](int i) { return i == n; }));
    CHECK(!filch::find_first(0, n, [](int i) { return i == n; }));
}

static void an_exception_ends_a_search()
{
    filch::pool pool = kit_pool(3);
    auto bad = [](int i) -> bool {
        if (i == 3000)
            throw std::runtime_error("test");
        return false;
    };
    for (int round = 0; round < 50; round++) {
        CHECK_STR(what_of([&] { (void)filch::find_any(fine(pool), 0, 10000, bad); }).c_str(), "test");
        CHECK_STR(what_of([&] { (void)filch::find_first(fine(pool), 0, 10000, bad); }).c_str(), "test");
    }
}

/* The hit stops the other half, whose loop is cut short: that is no error of the search. */
static void a_loop_in_a_search_is_no_error_when_something_was_found()
{
    filch::pool pool = kit_pool(2);
    for (int round = 0; round < 100; round++) {
        std::atomic<bool> begun{false};
        auto hit = filch::find_any(fine(pool), 0, 2, [&](int i) {
            if (i == 0) {
                await([&] { return begun.load(); });
                return true;
            }
            begun = true;
            for (;;)
                filch::parallel_for(0, 10, [](int) {});
        });
        CHECK(hit && *hit == 0);
    }
}

int main()
{
    RUN(each_index_is_seen_once);
    RUN(indices_are_of_the_type_that_was_given);
    RUN(a_range_that_ends_before_it_begins_is_empty);
    RUN(bodies_with_state_are_not_copied);
    RUN(a_function_is_a_body);
    RUN(an_exception_ends_the_loop);
    RUN(nothing_begins_after_an_exception);
    RUN(many_exceptions_are_one);
    RUN(an_inner_loop_that_was_stopped_does_not_hide_why);
    RUN(a_cancelled_loop_throws);
    RUN(for_each_takes_iterators_and_containers);
    RUN(searches_find_what_is_there);
    RUN(an_exception_ends_a_search);
    RUN(a_loop_in_a_search_is_no_error_when_something_was_found);
    return check_report();
}
