/* test_join.cpp: filch::join, filch::run, and exceptions in them. */
#include "kit.hpp"

#include <memory>
#include <vector>

static long fib(int n)
{
    if (n < 2)
        return n;
    auto [a, b] = filch::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
    return a + b;
}

static void a_join_returns_what_both_returned()
{
    CHECK_EQ(fib(kit_slow ? 16 : 22), kit_slow ? 987 : 17711);
    auto p = filch::join([] { return 1; }, [] { return std::string("two"); });
    static_assert(std::is_same_v<decltype(p), std::pair<int, std::string>>);
    CHECK(p.first == 1 && p.second == "two");
}

static void a_join_of_more_returns_a_tuple()
{
    int x = 0;
    auto t = filch::join([] { return 1; }, [&] { x = 2; }, [] { return 3.5; }, [&]() -> int & { return x; });
    static_assert(std::is_same_v<decltype(t), std::tuple<int, std::monostate, double, int &>>);
    CHECK(std::get<0>(t) == 1 && std::get<2>(t) == 3.5);
    CHECK(&std::get<3>(t) == &x);
    CHECK_EQ(x, 2);
    auto nothing = [] {};
    static_assert(std::is_void_v<decltype(filch::join(nothing, nothing, nothing))>);
}

static void results_may_be_moved_only()
{
    auto p = filch::join([] { return std::make_unique<int>(5); }, [] { return 6; });
    CHECK_EQ(*p.first, 5);
}

static int seven() { return 7; }

static void functions_and_functors_can_be_joined()
{
    struct functor {
        int n;
        int operator()() { return ++n; }
    } f{1};
    auto p = filch::join(seven, f);
    CHECK(p.first == 7 && p.second == 2);
    CHECK_EQ(f.n, 2);
}

static void on_a_pool_both_run_at_once()
{
    filch::pool pool = kit_pool(2);
    std::atomic<int> here{0};
    auto meet = [&] {
        here++;
        await([&] { return here == 2; });
        return filch_worker_id();
    };
    auto ids = filch::run(pool, [&] { return filch::join(meet, meet); });
    CHECK(ids.first != ids.second);
}

static void run_returns_and_throws()
{
    filch::pool pool = kit_pool(2);
    int x = 0;
    auto reference = [&]() -> int & { return x; };
    static_assert(std::is_same_v<decltype(filch::run(pool, reference)), int &>);
    CHECK(&filch::run(pool, reference) == &x);
    CHECK_EQ(filch::run(pool, [&] { return filch_pool_current() == pool.get(); }), 1);
    filch::run([&] { x = 3; });
    CHECK_EQ(x, 3);
    CHECK_STR(what_of([&] { filch::run(pool, [] { throw std::runtime_error("run"); }); }).c_str(), "run");
}

static void the_second_is_left_out_if_the_first_threw_before_it_began()
{
    filch::pool pool = kit_pool(1);
    bool ran = false;
    auto f = [&] { filch::join([] { throw std::runtime_error("f"); }, [&] { ran = true; }); };
    CHECK_STR(what_of([&] { filch::run(pool, f); }).c_str(), "f");
    CHECK(!ran);
}

static void a_stolen_lambda_throws_at_the_join()
{
    filch::pool pool = kit_pool(2);
    for (size_t round = 0; round < scaled(2000); round++) {
        std::atomic<bool> begun{false};
        auto f = [&] {
            filch::join([&] { await([&] { return begun.load(); }); return counted(1); },
                        [&] {
                            begun = true;
                            throw std::runtime_error("stolen");
                        });
        };
        CHECK_STR(what_of([&] { filch::run(pool, f); }).c_str(), "stolen");
    }
    CHECK_EQ(counted::alive, 0);
}

static void the_first_that_throws_waits_for_the_stolen_one()
{
    filch::pool pool = kit_pool(2);
    for (size_t round = 0; round < scaled(2000); round++) {
        std::atomic<bool> begun{false}, ended{false};
        auto f = [&] {
            filch::join(
                [&] {
                    await([&] { return begun.load(); });
                    throw 5;
                },
                [&] {
                    counted c(1);
                    begun = true;
                    sched_yield();
                    ended = true;
                    return c;
                });
        };
        CHECK(throws<int>([&] { filch::run(pool, f); }));
        CHECK(ended);
    }
    CHECK_EQ(counted::alive, 0);
}

static long deep(int n, int bad)
{
    counted c(n);
    if (n == bad)
        throw std::runtime_error("deep");
    if (n < 2)
        return n;
    auto [a, b] = filch::join([=] { return deep(n - 1, bad); }, [=] { return deep(n - 2, bad); });
    return a + b;
}

static void an_exception_rises_through_many_joins()
{
    filch::pool pool = kit_pool(3);
    for (int bad = 0; bad < 14; bad++)
        CHECK_STR(what_of([&] { filch::run(pool, [=] { return deep(14, bad); }); }).c_str(), "deep");
    CHECK_EQ(filch::run(pool, [] { return deep(14, 99); }), 377);
    CHECK_EQ(counted::alive, 0);
}

static void a_join_works_in_a_task_with_a_small_stack()
{
    filch::pool pool = kit_pool(2);
    CHECK_EQ(filch::spawn(pool, [] { return fib(15); }).join(), 610);
    auto bad = filch::spawn(pool, [] { return deep(12, 3); });
    CHECK_STR(what_of([&] { bad.join(); }).c_str(), "deep");
}

int main()
{
    RUN(a_join_returns_what_both_returned);
    RUN(a_join_of_more_returns_a_tuple);
    RUN(results_may_be_moved_only);
    RUN(functions_and_functors_can_be_joined);
    RUN(on_a_pool_both_run_at_once);
    RUN(run_returns_and_throws);
    RUN(the_second_is_left_out_if_the_first_threw_before_it_began);
    RUN(a_stolen_lambda_throws_at_the_join);
    RUN(the_first_that_throws_waits_for_the_stolen_one);
    RUN(an_exception_rises_through_many_joins);
    RUN(a_join_works_in_a_task_with_a_small_stack);
    return check_report();
}
