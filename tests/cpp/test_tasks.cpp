/* test_tasks.cpp: tasks, scopes, channels, and exceptions of flows that move between threads. */
#include "kit.hpp"

#include <memory>
#include <vector>

/* ---- tasks --------------------------------------------------------------------------------- */

static void a_detached_task_runs_and_its_closure_is_destroyed()
{
    std::atomic<int> ran{0};
    {
        filch::pool pool = kit_pool(2);
        for (int i = 0; i < 1000; i++)
            filch::go(pool, [c = counted(1), &ran] { ran += static_cast<int>(c.value); });
        filch::go(pool, [p = std::make_unique<int>(1), &ran] { ran += *p; });
    }
    CHECK_EQ(ran, 1001);
    CHECK_EQ(counted::alive, 0);
}

static void a_task_returns_its_value()
{
    filch::pool pool = kit_pool(2);
    int x = 1;
    auto t = filch::spawn(pool, [] { return std::string("done"); });
    auto u = filch::spawn(pool, [&]() -> int & { return x; });
    auto v = filch::spawn(pool, [&] { (void)x; });
    filch::task<std::string> moved = std::move(t);
    CHECK(moved.joinable() && !t.joinable());
    CHECK(moved.join() == "done");
    CHECK(!moved.joinable());
    CHECK(&u.join() == &x);
    v.join();
    CHECK(throws<filch::error>([&] { v.join(); }));
    CHECK_EQ(filch::spawn([] { return std::make_unique<int>(4); }).join().operator*(), 4);
}

static void a_task_throws_at_its_join()
{
    filch::pool pool = kit_pool(2);
    for (size_t round = 0; round < scaled(5000); round++) {
        auto t = filch::spawn(pool, [c = counted(1)]() -> counted { throw std::runtime_error("task"); });
        CHECK_STR(what_of([&] { (void)t.join(); }).c_str(), "task");
    }
    CHECK_EQ(counted::alive, 0);
}

static void a_task_that_was_not_joined_is_waited_for()
{
    filch::pool pool = kit_pool(2);
    std::atomic<bool> ended{false};
    {
        auto t = filch::spawn(pool, [&] {
            filch_sleep_ns(2000000);
            ended = true;
        });
    }
    CHECK(ended);
}

static void a_wait_with_a_deadline_leaves_the_task_joinable()
{
    filch::pool pool = kit_pool(2);
    std::atomic<bool> let{false};
    auto t = filch::spawn(pool, [&] {
        while (!let)
            filch_sleep_ns(100000);
        return 5;
    });
    CHECK(!t.wait(filch_clock_ns() + 1000000));
    CHECK(!t.done());
    let = true;
    CHECK(t.wait());
    CHECK(t.done());
    CHECK_EQ(t.join(), 5);
}

static void a_task_can_be_named()
{
    auto t = filch::spawn("worker bee", [] { return std::string(filch_task_name()); });
    CHECK(t.join() == "worker bee");
}

/* ---- scopes -------------------------------------------------------------------------------- */

static void a_scope_ends_with_its_tasks()
{
    filch::pool pool = kit_pool(2);
    std::atomic<int> ran{0};
    {
        filch::scope s(pool);
        for (int i = 0; i < 100; i++)
            s.go([&, c = counted(1)] {
                filch_yield();
                s.go("inner", [&] { ran++; });
                ran++;
            });
    }
    CHECK_EQ(ran, 200);
    CHECK_EQ(counted::alive, 0);
}

static void close_returns_an_error_and_throws_an_exception()
{
    filch::pool pool = kit_pool(2);
    filch::scope a(pool), b(pool), c(pool);
    a.go([] { return -EIO; });
    CHECK_EQ(a.close(), -EIO);
    b.go([] { throw std::runtime_error("scope"); });
    CHECK_STR(what_of([&] { b.close(); }).c_str(), "scope");
    c.go([] { return 5.5; });
    CHECK_EQ(c.close(), 0);
}

static void the_end_of_the_block_throws_too()
{
    filch::pool pool = kit_pool(2);
    auto block = [&] {
        filch::scope s(pool);
        s.go([] { throw std::runtime_error("end"); });
    };
    for (int round = 0; round < 200; round++)
        CHECK_STR(what_of(block).c_str(), "end");
}

static void the_first_exception_cancels_the_others()
{
    filch::pool pool = kit_pool(2);
    for (int round = 0; round < 100; round++) {
        filch::scope s(pool);
        for (int i = 0; i < 5; i++)
            s.go([c = counted(1)] {
                if (filch_sleep_ns(60000000000) == -ECANCELED)
                    throw filch::canceled_error("sleep");
                CHECK(false);
            });
        s.go([] { throw std::runtime_error("first"); });
        CHECK_STR(what_of([&] { s.close(); }).c_str(), "first");
    }
    CHECK_EQ(counted::alive, 0);
}

static void a_block_that_is_left_by_an_exception_cancels_its_tasks()
{
    filch::pool pool = kit_pool(2);
    std::atomic<bool> begun{false}, cut{false};
    auto block = [&] {
        filch::scope s(pool);
        s.go([&] {
            begun = true;
            while (!filch_canceled())
                filch_yield();
            cut = true;
        });
        while (!begun)
            filch_yield();
        throw std::logic_error("outside");
    };
    CHECK_STR(what_of(block).c_str(), "outside");
    CHECK(cut);
    cut = begun = false;
    CHECK_STR(what_of([&] { filch::spawn(pool, block).join(); }).c_str(), "outside");
    CHECK(cut);
}

static void the_exception_that_leaves_a_block_is_not_replaced()
{
    filch::pool pool = kit_pool(2);
    auto block = [&] {
        filch::scope s(pool);
        s.go([&] { throw std::runtime_error("inside"); });
        throw std::logic_error("outside");
    };
    for (int round = 0; round < 100; round++)
        CHECK_STR(what_of(block).c_str(), "outside");
}

static void a_cancelled_scope_is_an_error_not_an_exception()
{
    filch::pool pool = kit_pool(2);
    filch::scope s(pool);
    s.go([] {
        filch_sleep_ns(60000000000);
        filch::parallel_for(0, 10, [](int) {}); /* throws: its scope was cancelled */
        CHECK(false);
    });
    s.cancel();
    CHECK(s.canceled());
    CHECK_EQ(s.close(), -ECANCELED);
    filch::scope late(pool);
    late.deadline(filch_clock_ns() + 1000000);
    late.go([] { filch_sleep_ns(60000000000); });
    CHECK_EQ(late.close(), -ETIMEDOUT);
}

/* ---- channels ------------------------------------------------------------------------------ */

template <class T, class Make> void hand_over(size_t capacity, Make make)
{
    filch::pool pool = kit_pool(2);
    filch::channel<T> c(capacity);
    auto sender = filch::spawn(pool, [&] {
        for (int i = 0; i < 1000; i++)
            CHECK_EQ(c.send(make(i)), 0);
        c.close();
        CHECK_EQ(c.send(make(0)), -EPIPE);
    });
    int n = 0;
    while (auto x = c.recv())
        CHECK(*x == make(n++));
    CHECK_EQ(n, 1000);
    T last = make(0);
    CHECK_EQ(c.recv(last, FILCH_NOW), -EPIPE);
    sender.join();
}

static void a_channel_hands_over_values()
{
    for (size_t capacity : {size_t(0), size_t(3), FILCH_UNBOUNDED}) {
        hand_over<int>(capacity, [](int i) { return i; });
        hand_over<std::string>(capacity, [](int i) { return std::string(100, 'x') + std::to_string(i); });
    }
}

static void what_was_not_received_is_destroyed()
{
    {
        filch::channel<counted> c(4);
        for (int i = 0; i < 4; i++)
            CHECK_EQ(c.send(counted(i)), 0);
        CHECK_EQ(c.send(counted(9), FILCH_NOW), -ETIMEDOUT);
        CHECK_EQ(c.size(), 4);
        CHECK_EQ(c.recv()->value, 0);
        counted one(7);
        CHECK_EQ(c.recv(one), 0);
        CHECK_EQ(one.value, 1);
    }
    CHECK_EQ(counted::alive, 0);
}

/* ---- exceptions of flows that move --------------------------------------------------------- */

/* Waits, in such a way that the caller goes on on another worker, if it can. */
static void move_on(std::atomic<int> &moved)
{
    int before = filch_worker_id();
    filch::spawn([] { filch_sleep_ns(20000); }).join();
    moved += filch_worker_id() != before;
}

static bool handles(int value)
{
    try {
        throw; /* what is being handled */
    } catch (int x) {
        return x == value;
    }
}

/* Flows that wait in handlers, and others that throw and catch meanwhile on the same threads. */
static void a_flow_that_waits_in_a_handler_keeps_its_exception()
{
    filch::pool pool = kit_pool(3);
    std::atomic<int> moved{0};
    auto flow = [&](int me) {
        for (int round = 0; round < 10; round++) {
            try {
                throw me;
            } catch (int) {
                move_on(moved);
                CHECK(handles(me));
                CHECK_EQ(std::uncaught_exceptions(), 0);
                auto p = filch::join([=] { return me; }, [=]() -> int { return me + 1; });
                CHECK(p.second == me + 1 && handles(me));
                filch::parallel_for(0, 100, [&](int) {});
                CHECK(handles(me));
            }
            CHECK(!std::current_exception());
        }
    };
    for (int tries = 0; moved == 0; tries++) {
        filch::scope s(pool);
        for (int i = 0; i < 20; i++)
            s.go([&, i] { flow(i); });
        CHECK_EQ(s.close(), 0);
    }
}

struct waits_when_destroyed {
    std::atomic<int> &moved;
    ~waits_when_destroyed()
    {
        CHECK_EQ(std::uncaught_exceptions(), 1);
        move_on(moved);
        CHECK_EQ(std::uncaught_exceptions(), 1);
        CHECK_EQ(filch::carry([] { return filch_sleep_ns(1000); }), 0);
        CHECK_EQ(std::uncaught_exceptions(), 1);
    }
};

static void a_destructor_may_wait_while_an_exception_is_on_its_way()
{
    filch::pool pool = kit_pool(3);
    std::atomic<int> moved{0};
    auto flow = [&](int me) {
        for (int round = 0; round < 10; round++) {
            try {
                waits_when_destroyed w{moved};
                throw me;
            } catch (int x) {
                CHECK_EQ(x, me);
            }
            CHECK_EQ(std::uncaught_exceptions(), 0);
        }
    };
    while (moved == 0) {
        filch::scope s(pool);
        for (int i = 0; i < 20; i++)
            s.go([&, i] { flow(i); });
        CHECK_EQ(s.close(), 0);
    }
}

/* By the C API, which filch.hpp does not wrap. */
static void a_wait_of_c_in_a_handler_keeps_its_exception()
{
    filch::pool pool = kit_pool(3);
    filch::scope s(pool);
    for (int i = 0; i < 100; i++)
        s.go([i] {
            try {
                throw std::runtime_error(std::to_string(i));
            } catch (const std::exception &e) {
                CHECK_EQ(filch_sleep_ns(10000), 0);
                filch_yield();
                CHECK(e.what() == std::to_string(i));
                try {
                    throw;
                } catch (const std::runtime_error &same) {
                    CHECK(&same == &e);
                }
            }
            CHECK(!std::current_exception());
        });
    CHECK_EQ(s.close(), 0);
}

static void what_is_carried_may_throw()
{
    try {
        try {
            throw 1;
        } catch (int) {
            filch::carry([] { throw 2.5; });
        }
    } catch (double x) {
        CHECK(x == 2.5);
    }
    CHECK(!std::current_exception());
    CHECK_EQ(std::uncaught_exceptions(), 0);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void a_call_waits_for_a_duration_or_until_a_time()
{
    using namespace std::chrono_literals;
    filch::channel<int> c(1);
    int got = 0;
    auto before = std::chrono::steady_clock::now();
    CHECK_EQ(c.recv(got, 2ms), -ETIMEDOUT);
    CHECK_EQ(c.recv(got, before + 4ms), -ETIMEDOUT);
    CHECK(std::chrono::steady_clock::now() - before >= 4ms);
    CHECK_EQ(c.recv(got, 0s), -ETIMEDOUT);
    CHECK_EQ(c.recv(got, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(c.recv(got, 0), -ETIMEDOUT);
    CHECK_EQ(static_cast<std::int64_t>(filch::time_limit(std::chrono::hours::max())), FILCH_FOREVER);
    CHECK_EQ(static_cast<std::int64_t>(filch::time_limit(std::chrono::steady_clock::time_point::max())),
             FILCH_FOREVER);
    CHECK_EQ(c.send(7, 1min), 0);
    CHECK_EQ(c.recv(got, 0.5h), 0);
    CHECK_EQ(got, 7);
}

int main()
{
    RUN(a_detached_task_runs_and_its_closure_is_destroyed);
    RUN(a_task_returns_its_value);
    RUN(a_task_throws_at_its_join);
    RUN(a_task_that_was_not_joined_is_waited_for);
    RUN(a_wait_with_a_deadline_leaves_the_task_joinable);
    RUN(a_task_can_be_named);
    RUN(a_scope_ends_with_its_tasks);
    RUN(close_returns_an_error_and_throws_an_exception);
    RUN(the_end_of_the_block_throws_too);
    RUN(the_first_exception_cancels_the_others);
    RUN(a_block_that_is_left_by_an_exception_cancels_its_tasks);
    RUN(the_exception_that_leaves_a_block_is_not_replaced);
    RUN(a_cancelled_scope_is_an_error_not_an_exception);
    RUN(a_channel_hands_over_values);
    RUN(what_was_not_received_is_destroyed);
    RUN(a_flow_that_waits_in_a_handler_keeps_its_exception);
    RUN(a_destructor_may_wait_while_an_exception_is_on_its_way);
    RUN(a_call_waits_for_a_duration_or_until_a_time);
    RUN(a_wait_of_c_in_a_handler_keeps_its_exception);
    RUN(what_is_carried_may_throw);
    return check_report();
}
