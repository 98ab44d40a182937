/* filch.hpp: filch for C++17: lambdas, results, exceptions. A header over the C API, nothing to link but it.
 *
 *     #include <filch.hpp>
 *     #include <cstdio>
 *     #include <vector>
 *
 *     static long fib(int n)
 *     {
 *         if (n < 20) return n < 2 ? n : fib(n - 1) + fib(n - 2);
 *         auto [a, b] = filch::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
 *         return a + b;
 *     }
 *     int main()
 *     {
 *         std::vector<double> v(1000000, 2.);
 *         filch::parallel_for(0, v.size(), [&](std::size_t i) { v[i] *= .5; });
 *         double sum = filch::reduce(0, v.size(), 0., [&](std::size_t i) { return v[i]; }, std::plus<>());
 *         std::printf("%g %ld\n", sum, fib(30));
 *     }
 *
 * Exceptions. What a lambda throws is caught where it was called, on whatever thread; the first is kept, what
 * has not begun is left out, and it is thrown again from the call that waits: join, run, parallel_for,
 * for_each, reduce, find, sort, task::join, scope::close. A go() that throws ends the program, as a
 * std::thread would. Errors of the library are thrown as filch::error (a std::system_error), -ECANCELED
 * as its child canceled_error: never is a result returned that is not complete.
 *
 * Threads. Calls that may wait may resume on another thread, and so may the lambdas that they call: join,
 * run, parallel_for, for_each, reduce, reduce_fixed, find_any, find_first, sort, stable_sort, task::wait,
 * task::join, ~task, scope::close, ~scope, channel::send, channel::recv, carry. All others stay where they
 * are. Inside filch::pinned nothing moves. Threads outside every pool never move.
 *
 * Waiting in a catch block, or in a destructor while an exception is on its way. The calls above may be used
 * there: they take along what the language keeps per thread about exceptions. Waits of the C API do not
 * know about it: say filch::carry([&] { return filch_sleep_ns(1000); }) there.
 *
 * Lambdas are called by several threads at once, as they are: what they share is theirs to protect. Small
 * ones that can be called as const and copied as bytes are copied for each piece of a loop, so that the
 * compiler sees what they captured by value.
 */
#ifndef FILCH_HPP
#define FILCH_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "filch.hpp needs C++17"
#endif

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <filch.h>
#include <filch/chan.h>
#include <filch/par.h>
#include <filch/scope.h>
#include <filch/sort.h>
#include <filch/task.h>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace filch {

/* ---- errors --------------------------------------------------------------------------------- */

/* What the library could not do; code() compares with std::errc. */
class error : public std::system_error {
public:
    error(int code, const char *call)
        : std::system_error(code < 0 ? -code : code, std::generic_category(), call)
    {
    }
};

/* The caller's scope, or that of its filch::how, was cancelled. */
class canceled_error : public error {
public:
    explicit canceled_error(const char *call) : error(ECANCELED, call) {}
};

namespace detail {

[[noreturn, gnu::cold]] inline void raise(int rc, const char *call)
{
    if (rc == -ECANCELED)
        throw canceled_error(call);
    throw error(rc, call);
}

inline void check(int rc, const char *call)
{
    if (FILCH_UNLIKELY(rc != 0))
        raise(rc, call);
}

/* ---- what C++ keeps per thread about exceptions ---------------------------------------------- */

/* As the C++ ABI lays it out: those that are being handled, and how many are on their way. It belongs to a
 * flow, but the runtime keeps it by thread. Left behind, it would be found by whoever runs there next. */
struct handled {
    void *caught;
    unsigned uncaught;
#ifdef __ARM_EABI_UNWINDER__
    void *propagating;
#endif
};

/* Two functions that are not inlined: the address is another one after a wait, and compilers believe that
 * __cxa_get_globals always returns the same. What is put back is added: the call in between may be left by an
 * exception. */
[[gnu::noinline]] inline handled handled_take() noexcept
{
    handled now, none = {};
    std::memcpy(&now, static_cast<void *>(abi::__cxa_get_globals()), sizeof now);
    std::memcpy(static_cast<void *>(abi::__cxa_get_globals()), &none, sizeof none);
    return now;
}

[[gnu::noinline]] inline void handled_put(const handled &h) noexcept
{
    handled now;
    std::memcpy(&now, static_cast<void *>(abi::__cxa_get_globals()), sizeof now);
    now.caught = h.caught;
    now.uncaught += h.uncaught;
    std::memcpy(static_cast<void *>(abi::__cxa_get_globals()), &now, sizeof now);
}

/* Around a call that may wait. */
class carrying {
    handled mine_ = handled_take();

public:
    carrying() = default;
    carrying(const carrying &) = delete;
    carrying &operator=(const carrying &) = delete;
    ~carrying()
    {
        if (FILCH_UNLIKELY(mine_.caught || mine_.uncaught))
            handled_put(mine_);
    }
};

/* ---- the first exception of several lambdas -------------------------------------------------- */

constexpr int FAILED = 1; /* what a body returns to the C side after it threw */

/* | field   | writer             | reader                                | invariant                    |
 * | stopped | who throws first   | lambdas before they begin; the caller | once 1, always 1             |
 * | first   | who set `stopped`  | the caller, after all have ended      |                              |
 * | cut     | who was cancelled  | the caller, after all have ended      | once 1, always 1             |
 *
 * What was written reaches the caller through the join that it has behind it. */
class failure {
    uint32_t stopped_ = 0;
    uint32_t cut_ = 0;
    std::exception_ptr first_;

public:
    bool stopped() const noexcept
    {
        return FILCH_UNLIKELY(filch_load_relaxed(&stopped_)); /* order: a hint; the caller has joined */
    }

    /* In a handler. */
    [[gnu::cold, gnu::noinline]] void keep() noexcept
    {
        uint32_t none = 0;
        if (filch_cas_relaxed(&stopped_, &none, 1u)) /* order: one writer; the join publishes `first` */
            first_ = std::current_exception();
    }

    [[gnu::cold, gnu::noinline]] void note_cut() noexcept
    {
        filch_store_relaxed(&cut_, 1u); /* order: the join publishes it */
    }

    /* Calls f() and keeps what it throws. To have been cancelled is a result for C, not an exception of its
     * own: who stops a call knows why. */
    template <class F> int guard(F &&f) noexcept
    {
        try {
            f();
            return 0;
        } catch (const canceled_error &) {
            note_cut();
            return -ECANCELED;
        } catch (...) {
            keep();
            return FAILED;
        }
    }

    /* After all have ended. */
    void rethrow()
    {
        if (FILCH_UNLIKELY(first_ != nullptr))
            std::rethrow_exception(std::exchange(first_, nullptr));
    }

    bool was_cut() const noexcept { return cut_ != 0; }

    /* What the caller is told: the exception, else the error, if any. */
    void end(int rc, const char *call)
    {
        rethrow();
        check(rc, call);
    }
};

/* ---- results --------------------------------------------------------------------------------- */

template <class R> struct box {
    using type = R;
    std::optional<std::remove_cv_t<R>> value;
    template <class F> void fill(F &f) { value.emplace(f()); }
    type take() { return std::move(*value); }
};

template <class R> struct box<R &> {
    using type = R &;
    R *value = nullptr;
    template <class F> void fill(F &f) { value = std::addressof(f()); }
    type take() { return *value; }
};

template <> struct box<void> {
    using type = std::monostate;
    template <class F> void fill(F &f) { f(); }
    type take() { return {}; }
};

template <class F> using box_of = box<std::invoke_result_t<F &>>;

/* Calls it with one of its own, or with the reference. See the head of the file. */
template <class F, class... A> constexpr bool copied_for_each_piece()
{
    if constexpr (std::is_object_v<F>)
        return std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F> && sizeof(F) <= 64 &&
               std::is_invocable_v<const F &, A...>;
    else
        return false;
}
template <class F, class... A>
using piece_of = std::conditional_t<copied_for_each_piece<F, A...>(), const std::remove_cv_t<F>, F &>;

} /* namespace detail */

/* Calls f(), which may wait, from a catch block or a destructor: see the head of the file. */
template <class F> decltype(auto) carry(F &&f)
{
    detail::carrying exceptions;
    return std::forward<F>(f)();
}

/* ---- pools, and how things run --------------------------------------------------------------- */

struct config : filch_config {
    config() : filch_config(FILCH_CONFIG_INIT) {}
};

/* A pool of one's own; none is needed. Destroying it waits for all its jobs. */
class pool {
    filch_pool *pool_ = nullptr;

public:
    explicit pool(const filch_config &c) { detail::check(filch_pool_create(&pool_, &c), "filch::pool"); }
    explicit pool(int workers = 0)
    {
        config c;
        c.workers = workers;
        detail::check(filch_pool_create(&pool_, &c), "filch::pool");
    }
    pool(pool &&other) noexcept : pool_(std::exchange(other.pool_, nullptr)) {}
    pool &operator=(pool &&other) noexcept
    {
        std::swap(pool_, other.pool_);
        return *this;
    }
    ~pool()
    {
        if (pool_)
            filch_pool_destroy(pool_);
    }

    filch_pool *get() const noexcept { return pool_; }
    operator filch_pool *() const noexcept { return pool_; }
    int workers() const noexcept { return filch_pool_workers(pool_); }
};

/* How an algorithm runs: filch/how.h has the fields. A pool alone will do. */
struct how : filch_how {
    how() : filch_how(FILCH_HOW_INIT) {}
    how(filch_pool *on) : how() { pool = on; }
    how(const filch::pool &on) : how(on.get()) {}
};

/* How a task is made: filch/task.h has the fields. A name or a pool alone will do. */
struct attr : filch_task_attr {
    attr() : filch_task_attr(FILCH_TASK_ATTR_INIT) {}
    attr(const char *called) : attr() { name = called; }
    attr(filch_pool *on) : attr() { pool = on; }
    attr(const filch::pool &on) : attr(on.get()) {}
};

/* The caller stays on its thread: filch_pin. */
class pinned {
public:
    pinned() { filch_pin(); }
    pinned(const pinned &) = delete;
    pinned &operator=(const pinned &) = delete;
    ~pinned() { filch_unpin(); }
};

/* ---- fork-join ------------------------------------------------------------------------------- */

namespace detail {

/* Some lambdas, each forked by the one before it. Over the slots of filch/forkjoin.h: the address of this
 * is what lies in a slot, so that a fork is two stores. */
template <class... F> class forks {
    static constexpr std::size_t many = sizeof...(F);
    std::tuple<F *...> fns_;
    std::tuple<box_of<F>...> results_;
    failure fail_;

    template <std::size_t K> void call() noexcept
    {
        if (!fail_.stopped())
            (void)fail_.guard([this] { std::get<K>(results_).fill(*std::get<K>(fns_)); });
    }

    /* As filch_slot_retract; but a join that may wait takes exceptions along. */
    static bool retract(filch_slot *slot) noexcept
    {
        /* order: [S2] store fn, then load claim; the thief's membarrier makes it a full fence */
        filch_store_relaxed(&slot->fn, static_cast<void (*)(filch_slot *, filch_slot *)>(nullptr));
        filch_fence_compiler();
        return FILCH_UNLIKELY(filch_load_relaxed(&slot->claim)) && retract_slow(slot); /* order: [S2] */
    }

    [[gnu::cold, gnu::noinline]] static bool retract_slow(filch_slot *slot) noexcept
    {
        carrying exceptions;
        return filch_slot_join_slow(slot) != 0;
    }

    template <std::size_t K> static void stolen(filch_slot *slot, filch_slot *head) noexcept
    {
        forks *self;
        std::memcpy(&self, slot->payload.bytes, sizeof self);
        self->template from<K>(head);
    }

    /* The K-th and those after it. */
    template <std::size_t K> void from(filch_slot *head) noexcept
    {
        if constexpr (K + 1 == many) {
            call<K>();
        } else {
            forks *self = this;
            std::memcpy(head->payload.bytes, &self, sizeof self);
            filch_slot_publish(head, stolen<K + 1>);
            call<K>();
            if (!retract(head))
                from<K + 1>(head);
        }
    }

    static void root(void *self, filch_slot *head) { static_cast<forks *>(self)->template from<0>(head); }

    [[gnu::cold, gnu::noinline]] void run_root() noexcept
    {
        carrying exceptions;
        filch_slot_root(nullptr, root, this, "filch::join");
    }

    template <std::size_t... K> auto results(std::index_sequence<K...>)
    {
        if constexpr ((std::is_void_v<std::invoke_result_t<F &>> && ...))
            return;
        else if constexpr (many == 2)
            return std::pair<typename box_of<F>::type...>(std::get<K>(results_).take()...);
        else
            return std::tuple<typename box_of<F>::type...>(std::get<K>(results_).take()...);
    }

public:
    explicit forks(F *...fns) : fns_(fns...) {}

    auto run()
    {
        if (filch_slot *head = filch_slot_head(nullptr))
            from<0>(head);
        else
            run_root(); /* a thread outside, or a task: on a large stack */
        if (fail_.stopped() || fail_.was_cut())
            fail_.end(fail_.was_cut() ? -ECANCELED : 0, "filch::join");
        return results(std::index_sequence_for<F...>());
    }
};

} /* namespace detail */

/* Calls all of them, in parallel if somebody is idle, and returns when all have ended. The first runs at
 * once, * on this thread. What they return: a std::pair of two, else a std::tuple, with std::monostate where
 * one returns * nothing; nothing if none does. May wait; may resume on another thread. */
template <class F, class G, class... More> auto join(F &&f, G &&g, More &&...more)
{
    using std::remove_reference_t;
    using all = detail::forks<remove_reference_t<F>, remove_reference_t<G>, remove_reference_t<More>...>;
    return all(std::addressof(f), std::addressof(g), std::addressof(more)...).run();
}

namespace detail {

template <class F> struct rooted {
    F *fn;
    box_of<F> result;
    failure fail;
    int rc = 0;
    static void run(void *p) noexcept
    {
        rooted *r = static_cast<rooted *>(p);
        r->rc = r->fail.guard([r] { r->result.fill(*r->fn); });
    }
};

} /* namespace detail */

/* Calls f() on the pool (null: the current or default one) and returns what it returned. May wait; may
 * resume on * another thread. */
template <class F> std::invoke_result_t<F &> run(filch_pool *on, F &&f)
{
    detail::rooted<std::remove_reference_t<F>> r{std::addressof(f), {}, {}};
    {
        detail::carrying exceptions;
        filch_run_on(on, r.run, &r);
    }
    r.fail.end(r.rc, "filch::run");
    return static_cast<std::invoke_result_t<F &>>(r.result.take());
}

template <class F> std::invoke_result_t<F &> run(F &&f)
{
    return run(static_cast<filch_pool *>(nullptr), std::forward<F>(f));
}

/* ---- loops ----------------------------------------------------------------------------------- */

namespace detail {

template <class Lo, class Hi> using index_of = std::common_type_t<Lo, Hi>;

/* A range of any integers, as C counts it: from 0. */
template <class I> struct range {
    static_assert(std::is_integral_v<I>, "ranges are of integers");
    I lo, hi;
    template <class Lo, class Hi> range(Lo l, Hi h) : lo(static_cast<I>(l)), hi(static_cast<I>(h)) {}
    std::size_t size() const
    {
        using U = std::make_unsigned_t<I>;
        U many = static_cast<U>(static_cast<U>(hi) - static_cast<U>(lo));
        return lo < hi ? static_cast<std::size_t>(many) : 0;
    }
    /* By way of unsigned: from the least to the greatest there are more than I can count. */
    I at(std::size_t i) const
    {
        using U = std::make_unsigned_t<I>;
        return static_cast<I>(static_cast<U>(static_cast<U>(lo) + static_cast<U>(i)));
    }
};

template <class I, class Body> struct loop {
    range<I> all;
    Body *body;
    failure fail;

    void piece(I lo, I hi)
    {
        if constexpr (std::is_invocable_v<Body &, I>) {
            piece_of<Body, I> call = *body;
            for (I i = lo; i < hi; ++i)
                call(i);
        } else {
            static_assert(std::is_invocable_v<Body &, I, I>, "a body takes an index, or a range: (lo, hi)");
            piece_of<Body, I, I> call = *body;
            call(lo, hi);
        }
    }

    static int run(std::size_t lo, std::size_t hi, void *p) noexcept
    {
        loop *l = static_cast<loop *>(p);
        return l->fail.guard([=] { l->piece(l->all.at(lo), l->all.at(hi)); });
    }
};

template <class I, class Body>
void run_loop(const filch_how *how, range<I> all, Body &body, const char *call)
{
    loop<I, Body> l{all, std::addressof(body), {}};
    int rc;
    {
        carrying exceptions;
        rc = filch_for_with(how, 0, all.size(), l.run, &l);
    }
    l.fail.end(rc, call);
}

} /* namespace detail */

/* body(i) for each index of [lo, hi), or body(lo, hi) for pieces of it, in any order. Nothing if hi <= lo.
 * May wait; * may resume on another thread. */
template <class Lo, class Hi, class Body> void parallel_for(const how &h, Lo lo, Hi hi, Body &&body)
{
    using I = detail::index_of<Lo, Hi>;
    detail::run_loop(&h, detail::range<I>(lo, hi), body, "filch::parallel_for");
}

template <class Lo, class Hi, class Body> void parallel_for(Lo lo, Hi hi, Body &&body)
{
    using I = detail::index_of<Lo, Hi>;
    detail::run_loop(nullptr, detail::range<I>(lo, hi), body, "filch::parallel_for");
}

namespace detail {

template <class It>
constexpr bool random_access =
    std::is_base_of_v<std::random_access_iterator_tag, typename std::iterator_traits<It>::iterator_category>;

template <class It, class Body> void each(const filch_how *how, It first, It last, Body &body)
{
    static_assert(random_access<It>, "for_each needs random access; put the elements into a vector");
    using D = typename std::iterator_traits<It>::difference_type;
    auto piece = [first, &body](D lo, D hi) {
        piece_of<Body, decltype(*first)> call = body;
        for (It i = first + lo, end = first + hi; i != end; ++i)
            call(*i);
    };
    run_loop(how, range<D>(0, last - first), piece, "filch::for_each");
}

} /* namespace detail */

/* body(element) for each of a range or container with random access, in any order. May wait; may resume on
 * another * thread. */
template <class It, class Body> void for_each(It first, It last, Body &&body)
{
    detail::each(nullptr, first, last, body);
}
template <class It, class Body> void for_each(const how &h, It first, It last, Body &&body)
{
    detail::each(&h, first, last, body);
}
template <class Container, class Body> void for_each(Container &&c, Body &&body)
{
    detail::each(nullptr, std::begin(c), std::end(c), body);
}
template <class Container, class Body> void for_each(const how &h, Container &&c, Body &&body)
{
    detail::each(&h, std::begin(c), std::end(c), body);
}

/* ---- reductions ------------------------------------------------------------------------------ */

namespace detail {

/* acc = f(acc, more...), by a function that changes acc or one that returns what it becomes. */
template <class F, class T, class... A>
constexpr bool can_step = std::is_invocable_v<F &, T &, A...> || std::is_invocable_v<F &, T &&, A...>;

template <class T, class R> T as(R &&r)
{
    if constexpr (std::is_same_v<std::decay_t<R>, T>)
        return std::forward<R>(r);
    else
        return static_cast<T>(std::forward<R>(r));
}

template <class F, class T, class... A> constexpr bool changes_in_place()
{
    if constexpr (std::is_invocable_v<F &, T &, A...>)
        return std::is_void_v<std::invoke_result_t<F &, T &, A...>>;
    else
        return false;
}

template <class F, class T, class... A> void step(F &f, T &acc, A &&...a)
{
    if constexpr (changes_in_place<F, T, A &&...>())
        f(acc, std::forward<A>(a)...);
    else if constexpr (std::is_invocable_v<F &, T &&, A &&...>)
        acc = as<T>(f(std::move(acc), std::forward<A>(a)...));
    else
        acc = as<T>(f(acc, std::forward<A>(a)...));
}

/* A T in raw memory that C gave us, which need not be aligned for it, and may fail to be made. C calls
 * `identity` * once for each state, and gives each but the result to `combine`, once, as the right one, also
 * after an * error: that is where it is destroyed. */
template <class T> struct state {
    using type = std::optional<T>;
    static constexpr std::size_t given = alignof(std::max_align_t);
    static constexpr std::size_t align = alignof(type);
    static constexpr std::size_t size = sizeof(type) + (align > given ? align - given : 0);

    static void *place(const void *raw)
    {
        std::uintptr_t a = reinterpret_cast<std::uintptr_t>(raw);
        return reinterpret_cast<void *>((a + align - 1) / align * align);
    }
    static type &at(const void *raw) { return *std::launder(static_cast<type *>(place(raw))); }
};

template <class I, class T, class Fold, class Combine> struct reduction {
    using states = state<T>;
    static constexpr bool maps = std::is_invocable_v<Fold &, I>;
    static constexpr bool by_index = can_step<Fold, T, I>;
    static constexpr bool by_range = can_step<Fold, T, I, I>;
    static_assert(maps || by_index || by_range, "fold is (index), (T, index) or (T, lo, hi)");
    /* A small sum goes over a piece in a register: in memory it might be what the lambda reads. */
    static constexpr bool in_register = std::is_trivially_copyable_v<T> && sizeof(T) <= 64;

    range<I> all;
    const T *zero;
    Fold *fold;
    Combine *combine;
    void *result;
    bool made;
    failure fail;

    static reduction *of(void *p) { return static_cast<reduction *>(p); }

    void merge(T &left, T &&right)
    {
        if constexpr (can_step<Combine, T, T &&>)
            step(*combine, left, std::move(right));
        else
            step(*combine, left, right);
    }

    template <class F> void element(F &f, T &acc, I i)
    {
        if constexpr (maps)
            merge(acc, as<T>(f(i)));
        else
            step(f, acc, i);
    }

    template <class F> void elements(F &f, T &acc, I lo, I hi)
    {
        for (I i = lo; i < hi; ++i)
            element(f, acc, i);
    }

    void piece(T &acc, I lo, I hi)
    {
        if constexpr (!maps && !by_index) {
            step(*fold, acc, lo, hi);
        } else if constexpr (in_register) {
            T sum = acc;
            elements(*fold, sum, lo, hi);
            acc = sum;
        } else {
            elements(*fold, acc, lo, hi);
        }
    }

    static void on_identity(void *raw, void *p) noexcept
    {
        reduction *r = of(p);
        auto *s = ::new (states::place(raw)) typename states::type();
        if (raw == r->result)
            r->made = true;
        (void)r->fail.guard([=] { s->emplace(*r->zero); });
    }

    static void on_fold(void *raw, std::size_t lo, std::size_t hi, void *p) noexcept
    {
        reduction *r = of(p);
        auto &s = states::at(raw);
        if (s && !r->fail.stopped())
            (void)r->fail.guard([&] { r->piece(*s, r->all.at(lo), r->all.at(hi)); });
    }

    static void on_combine(void *left, const void *right, void *p) noexcept
    {
        reduction *r = of(p);
        auto &a = states::at(left);
        auto &b = states::at(right);
        if (a && b && !r->fail.stopped())
            (void)r->fail.guard([&] { r->merge(*a, std::move(*b)); });
        using type = typename states::type;
        b.~type();
    }

    /* Not to be forgotten, whichever way the call ends. */
    struct unmake {
        reduction *r;
        ~unmake()
        {
            using type = typename states::type;
            if (r->made)
                states::at(r->result).~type();
        }
    };

    using engine = int(const filch_how *, const filch_reducer *, void *, std::size_t, std::size_t, void *);

    T run(engine *reduce, const filch_how *how, const char *call)
    {
        alignas(std::max_align_t) unsigned char raw[states::size];
        const filch_reducer reducer = {states::size, on_identity, on_fold, on_combine};
        int rc;
        result = raw;
        unmake later{this};
        {
            carrying exceptions;
            rc = reduce(how, &reducer, raw, 0, all.size(), this);
        }
        fail.end(rc != 0 ? rc : fail.was_cut() ? -ECANCELED : 0, call);
        return std::move(*states::at(raw));
    }
};

template <class I, class T, class Fold, class Combine>
using reduction_of = reduction<I, T, std::remove_reference_t<Fold>, std::remove_reference_t<Combine>>;

} /* namespace detail */

/* Folds [lo, hi) into a T that begins as a copy of `identity`. `fold` is one of
 *     (i)            what is to be added: combine(acc, fold(i))
 *     (acc, i)       adds one: returns what acc becomes, or takes T & and returns nothing
 *     (acc, lo, hi)  adds a range, in the same ways
 * and `combine` (left, right) adds two, in the same ways; std::plus<>() will do. Elements keep their order,
 * so `+` has to be associative only. T is any type that can be copied and moved; reduce<double>(...) to
 * choose it. May wait; may resume on another thread. */
template <class T, class Lo, class Hi, class Fold, class Combine>
T reduce(const how &h, Lo lo, Hi hi, T identity, Fold &&fold, Combine &&combine)
{
    using I = detail::index_of<Lo, Hi>;
    detail::reduction_of<I, T, Fold, Combine> r{{lo, hi}, &identity, std::addressof(fold),
                                                std::addressof(combine), nullptr, false, {}};
    return r.run(filch_reduce_with, &h, "filch::reduce");
}
template <class T, class Lo, class Hi, class Fold, class Combine>
T reduce(Lo lo, Hi hi, T identity, Fold &&fold, Combine &&combine)
{
    return reduce<T>(how(), lo, hi, std::move(identity), fold, combine);
}

/* Grouped by hi - lo (and how.grain) alone: the same bits for any number of workers. */
template <class T, class Lo, class Hi, class Fold, class Combine>
T reduce_fixed(const how &h, Lo lo, Hi hi, T identity, Fold &&fold, Combine &&combine)
{
    using I = detail::index_of<Lo, Hi>;
    detail::reduction_of<I, T, Fold, Combine> r{{lo, hi}, &identity, std::addressof(fold),
                                                std::addressof(combine), nullptr, false, {}};
    return r.run(filch_reduce_fixed_with, &h, "filch::reduce_fixed");
}
template <class T, class Lo, class Hi, class Fold, class Combine>
T reduce_fixed(Lo lo, Hi hi, T identity, Fold &&fold, Combine &&combine)
{
    return reduce_fixed<T>(how(), lo, hi, std::move(identity), fold, combine);
}

/* ---- searches -------------------------------------------------------------------------------- */

namespace detail {

template <class I, class Test> struct search {
    range<I> all;
    Test *test;
    failure fail;

    bool piece(I lo, I hi, std::size_t at, std::size_t &where)
    {
        piece_of<Test, I> is = *test;
        for (I i = lo; i < hi; ++i, ++at)
            if (is(i)) {
                where = at;
                return true;
            }
        return false;
    }

    /* After an exception: a hit, which ends the search. */
    static std::size_t look(std::size_t lo, std::size_t hi, void *p) noexcept
    {
        search *s = static_cast<search *>(p);
        std::size_t where = hi;
        if (s->fail.stopped())
            return lo;
        int rc = s->fail.guard([&] { (void)s->piece(s->all.at(lo), s->all.at(hi), lo, where); });
        return rc == FAILED ? lo : where;
    }

    using look_fn = std::size_t(std::size_t, std::size_t, void *);
    using engine = int(const filch_how *, std::size_t, std::size_t, look_fn *, void *, std::size_t *);

    std::optional<I> run(engine *find, const filch_how *how, bool any, const char *call)
    {
        std::size_t where = 0;
        int rc;
        {
            carrying exceptions;
            rc = find(how, 0, all.size(), look, this, &where);
        }
        fail.rethrow();
        /* A test that was cancelled may have missed something; but one hit is as good as another. */
        if (rc < 0 || (fail.was_cut() && !(any && rc == 1)))
            raise(rc < 0 ? rc : -ECANCELED, call);
        return rc == 1 ? std::optional<I>(all.at(where)) : std::nullopt;
    }
};

} /* namespace detail */

/* An index of [lo, hi) for which test(i) is true, or nothing; find_first: the lowest. Others stop soon after
 * a hit. An * exception is thrown also if there is a hit before it. May wait; may resume on another
 * thread. */
template <class Lo, class Hi, class Test> auto find_any(const how &h, Lo lo, Hi hi, Test &&test)
{
    using I = detail::index_of<Lo, Hi>;
    detail::search<I, std::remove_reference_t<Test>> s{{lo, hi}, std::addressof(test), {}};
    return s.run(filch_find_any_with, &h, true, "filch::find_any");
}
template <class Lo, class Hi, class Test> auto find_any(Lo lo, Hi hi, Test &&test)
{
    return find_any(how(), lo, hi, test);
}
template <class Lo, class Hi, class Test> auto find_first(const how &h, Lo lo, Hi hi, Test &&test)
{
    using I = detail::index_of<Lo, Hi>;
    detail::search<I, std::remove_reference_t<Test>> s{{lo, hi}, std::addressof(test), {}};
    return s.run(filch_find_first_with, &h, false, "filch::find_first");
}
template <class Lo, class Hi, class Test> auto find_first(Lo lo, Hi hi, Test &&test)
{
    return find_first(how(), lo, hi, test);
}

/* ---- sorting --------------------------------------------------------------------------------- */

/* May elements be moved by copying their bytes? True for what the language promises it for, and for pairs of
 * such; specialise it for a type of your own that has a copy of its own but no pointers into itself. */
template <class T> struct moves_as_bytes : std::is_trivially_copyable<T> {};
template <class A, class B>
struct moves_as_bytes<std::pair<A, B>> : std::conjunction<moves_as_bytes<A>, moves_as_bytes<B>> {};

namespace detail {

/* Are the elements side by side in memory? C++17 cannot tell; the iterators of vector and string can be
 * named. */
template <class It> struct side_by_side : std::is_pointer<It> {};
#if defined(__GLIBCXX__)
template <class T, class C> struct side_by_side<__gnu_cxx::__normal_iterator<T *, C>> : std::true_type {};
#elif defined(_LIBCPP_VERSION)
template <class T> struct side_by_side<std::__wrap_iter<T *>> : std::true_type {};
#endif

/* The number in enum filch_plain of a type that sorts as a number, or -1. */
template <class T> constexpr int plain_number()
{
    if constexpr (std::is_same_v<T, float>)
        return FILCH_F32;
    else if constexpr (std::is_same_v<T, double>)
        return FILCH_F64;
    else if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool> || sizeof(T) > 8)
        return -1;
    else
        return (sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 2 : sizeof(T) == 4 ? 4 : 6) + !std::is_signed_v<T>;
}
static_assert(FILCH_I8 == 0 && FILCH_U8 == 1 && FILCH_I16 == 2 && FILCH_I32 == 4 && FILCH_U64 == 7);

template <class T, class Less>
constexpr bool ascending = std::is_same_v<Less, std::less<>> || std::is_same_v<Less, std::less<T>>;

/* A comparison for C. Once it has thrown all are equal, and the sort is over soon, with all elements
 * there. */
template <class T, class Less> struct comparison {
    Less *less;
    failure fail;

    static int compare(const T &a, const T &b, void *p) noexcept
    {
        comparison *c = static_cast<comparison *>(p);
        int order = 0;
        if (!c->fail.stopped())
            (void)c->fail.guard([&] { order = (*c->less)(a, b) ? -1 : (*c->less)(b, a) ? 1 : 0; });
        return order;
    }
    static int direct(const void *a, const void *b, void *p) noexcept
    {
        return compare(*static_cast<const T *>(a), *static_cast<const T *>(b), p);
    }
    static int by_address(const void *a, const void *b, void *p) noexcept
    {
        return compare(**static_cast<const T *const *>(a), **static_cast<const T *const *>(b), p);
    }
};

inline int sort_bytes(bool stable, const filch_how *how, void *base, std::size_t n, std::size_t size,
                      filch_compare_r *cmp, void *arg)
{
    carrying exceptions;
    return stable ? filch_sort_stable_with(how, base, n, size, cmp, arg)
                  : filch_sort_with(how, base, n, size, cmp, arg);
}

/* body(i) for each of n, whatever is cancelled meanwhile: a second time for those that are done has no
 * effect. */
template <class Body> void all_of_them(const filch_how *how, std::size_t n, Body body)
{
    loop<std::size_t, Body> l{{std::size_t(0), n}, &body, {}};
    carrying exceptions;
    if (filch_for_with(how, 0, n, l.run, &l) != 0)
        l.piece(0, n);
}

template <class T> struct raw_memory {
    T *at;
    explicit raw_memory(std::size_t n)
        : at(static_cast<T *>(::operator new(n * sizeof(T), std::align_val_t(alignof(T)))))
    {
    }
    raw_memory(const raw_memory &) = delete;
    raw_memory &operator=(const raw_memory &) = delete;
    ~raw_memory() { ::operator delete(at, std::align_val_t(alignof(T))); }
};

/* Sorts addresses, then moves each element twice: to where it belongs in a second array, and back. An address
 * tells how far its place is: null between the two. */
template <class T, class It, class Less>
void sort_addresses(bool stable, const filch_how *how, It first, std::size_t n, Less &less, const char *call)
{
    using D = typename std::iterator_traits<It>::difference_type;
    std::unique_ptr<T *[]> at(new T *[n]);
    T **to = at.get();
    auto element = [first](std::size_t i) { return std::addressof(first[static_cast<D>(i)]); };
    comparison<T, Less> c{std::addressof(less), {}};
    all_of_them(how, n, [=](std::size_t i) { to[i] = element(i); });
    int rc = sort_bytes(stable, how, to, n, sizeof *to, c.by_address, &c);
    c.fail.end(rc, call);

    raw_memory<T> memory(n);
    T *room = memory.at;
    all_of_them(how, n, [=](std::size_t i) {
        if (to[i])
            ::new (static_cast<void *>(room + i)) T(std::move(*to[i]));
        to[i] = nullptr;
    });
    all_of_them(how, n, [=](std::size_t i) {
        if (to[i])
            return;
        to[i] = element(i);
        *to[i] = std::move(room[i]);
        room[i].~T();
    });
}

template <class It, class Less>
void sort_any(bool stable, const filch_how *how, It first, It last, Less &less, const char *call)
{
    using T = typename std::iterator_traits<It>::value_type;
    static_assert(random_access<It>, "sorting needs random access");
    static_assert(std::is_lvalue_reference_v<decltype(*first)>, "elements without an address");
    constexpr bool bytes = side_by_side<It>::value && moves_as_bytes<T>::value &&
                           alignof(T) <= alignof(std::max_align_t);
    std::size_t n = static_cast<std::size_t>(last - first);
    if (last - first < 2)
        return;
    if constexpr (bytes && ascending<T, std::remove_cv_t<Less>> && plain_number<T>() >= 0) {
        if (!stable || std::is_integral_v<T>) { /* 0.0 and -0.0 are equal, but not the same */
            carrying exceptions;
            check(filch_sort_plain_with(how, std::addressof(*first), n,
                                        static_cast<enum filch_plain>(plain_number<T>())), call);
            return;
        }
    }
    if constexpr (bytes) {
        comparison<T, Less> c{std::addressof(less), {}};
        int rc = sort_bytes(stable, how, std::addressof(*first), n, sizeof(T), c.direct, &c);
        c.fail.end(rc, call);
    } else if constexpr (std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>) {
        sort_addresses<T>(stable, how, first, n, less, call);
    } else {
        stable ? std::stable_sort(first, last, std::ref(less)) : std::sort(first, last, std::ref(less));
    }
}

} /* namespace detail */

/* Sorts [first, last). Numbers in an array, a vector or the like by std::less: by their digits, without a
 * comparison. * Other elements that can be moved as bytes (moves_as_bytes): in place, with memory for a
 * copy. All others: an array * of addresses is sorted and each element moved twice; if moving one may throw,
 * by std::sort, on this thread. * After an exception or a cancellation the elements are all there, in some
 * order. May wait; may resume on another * thread. */
template <class It, class Less = std::less<>> void sort(It first, It last, Less &&less = Less())
{
    detail::sort_any(false, nullptr, first, last, less, "filch::sort");
}
template <class It, class Less = std::less<>> void sort(const how &h, It first, It last, Less &&less = Less())
{
    detail::sort_any(false, &h, first, last, less, "filch::sort");
}

/* The same; equal elements keep their order. */
template <class It, class Less = std::less<>> void stable_sort(It first, It last, Less &&less = Less())
{
    detail::sort_any(true, nullptr, first, last, less, "filch::stable_sort");
}
template <class It, class Less = std::less<>>
void stable_sort(const how &h, It first, It last, Less &&less = Less())
{
    detail::sort_any(true, &h, first, last, less, "filch::stable_sort");
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* Starts f() as a task that nobody waits for. It is moved to the heap, and destroyed when it has ended; if
 * it throws, * std::terminate. Does not wait. */
template <class F> void go(const attr &a, F &&f)
{
    using Fn = std::decay_t<F>;
    auto fn = std::make_unique<Fn>(std::forward<F>(f));
    auto call = [](void *p) noexcept { (*std::unique_ptr<Fn>(static_cast<Fn *>(p)))(); };
    detail::check(filch_go_with(&a, call, fn.get()), "filch::go");
    (void)fn.release();
}
template <class F> void go(F &&f)
{
    go(attr(), std::forward<F>(f));
}

namespace detail {

/* What a task and its handle share; the handle's. */
template <class R> struct spawned {
    box<R> result;
    std::exception_ptr error;
    virtual ~spawned() = default;
};

template <class R, class F> struct spawned_call final : spawned<R> {
    F fn;
    template <class G> explicit spawned_call(G &&g) : fn(std::forward<G>(g)) {}
    static int run(void *p) noexcept
    {
        auto *s = static_cast<spawned_call *>(p);
        try {
            s->result.fill(s->fn);
        } catch (...) {
            s->error = std::current_exception();
        }
        return 0;
    }
};

} /* namespace detail */

/* The handle of a task that returns a T. Moves; is joined once. One that was not joined waits for the task
 * in its * destructor, where what it threw is lost. */
template <class T> class [[nodiscard]] task {
    filch_task *task_ = nullptr;
    std::unique_ptr<detail::spawned<T>> shared_;

    bool ended(std::int64_t deadline) noexcept
    {
        detail::carrying exceptions;
        if (filch_task_join(task_, nullptr, deadline) != 0)
            return false;
        task_ = nullptr;
        return true;
    }

    template <class F> friend auto spawn(const attr &a, F &&f);
    task(filch_task *t, std::unique_ptr<detail::spawned<T>> s) : task_(t), shared_(std::move(s)) {}

public:
    task() = default;
    task(task &&other) noexcept
        : task_(std::exchange(other.task_, nullptr)), shared_(std::move(other.shared_))
    {
    }
    task &operator=(task &&other) noexcept
    {
        std::swap(task_, other.task_);
        std::swap(shared_, other.shared_);
        return *this;
    }
    ~task()
    {
        if (task_)
            (void)ended(FILCH_FOREVER);
    }

    /* Is there something to join? */
    bool joinable() const noexcept { return shared_ != nullptr; }
    /* Would join() return at once? */
    bool done() const noexcept { return shared_ && (!task_ || filch_task_done(task_)); }
    /* Waits for its end, until the deadline (of filch_clock_ns) at most. Has it ended? */
    bool wait(std::int64_t deadline = FILCH_FOREVER) { return !task_ || ended(deadline); }

    /* Waits for its end; returns what it returned, or throws what it threw. */
    T join()
    {
        if (!shared_)
            throw error(EINVAL, "filch::task::join");
        (void)wait();
        auto shared = std::move(shared_);
        if (shared->error)
            std::rethrow_exception(shared->error);
        return static_cast<T>(shared->result.take());
    }
};

/* Starts f() as a task with a handle. Does not wait. */
template <class F> auto spawn(const attr &a, F &&f)
{
    using R = std::invoke_result_t<std::decay_t<F> &>;
    using Call = detail::spawned_call<R, std::decay_t<F>>;
    auto shared = std::make_unique<Call>(std::forward<F>(f));
    filch_task *t = nullptr;
    detail::check(filch_spawn_with(&t, &a, Call::run, shared.get()), "filch::spawn");
    return task<R>(t, std::move(shared));
}
template <class F> auto spawn(F &&f)
{
    return spawn(attr(), std::forward<F>(f));
}

/* ---- scopes ---------------------------------------------------------------------------------- */

/* Tasks that end before the block does. The first that throws, or returns an int that is not 0, cancels the
 * others. At the end of the block, if close() was not called: as close(), the result dropped, but exceptions
 * are thrown; if the block is left by an exception, the tasks are cancelled and waited for. */
class scope {
    filch_scope scope_;
    detail::failure fail_;
    int under_way_ = std::uncaught_exceptions();
    bool open_ = true;

    template <class F> struct job {
        scope *owner;
        F fn;

        static int run(void *p) noexcept
        {
            job *j = static_cast<job *>(p);
            int result = 0;
            int rc = j->owner->fail_.guard([&] {
                if constexpr (std::is_same_v<std::invoke_result_t<F &>, int>)
                    result = j->fn();
                else
                    (void)j->fn();
            });
            return rc ? rc : result;
        }
        static void drop(void *p) noexcept { delete static_cast<job *>(p); }
    };

    int finish() noexcept
    {
        detail::carrying exceptions;
        open_ = false;
        return filch_scope_close(&scope_);
    }

public:
    /* For tasks of a pool; null: the current or default one. */
    explicit scope(filch_pool *on = nullptr)
    {
        detail::check(filch_scope_open_on(&scope_, on), "filch::scope");
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    ~scope() noexcept(false)
    {
        if (!open_)
            return;
        bool left = std::uncaught_exceptions() > under_way_;
        if (left)
            cancel();
        (void)finish();
        if (!left)
            fail_.rethrow();
    }

    /* Starts f() in it, under a name that is borrowed until it has ended. f is moved to the heap, and
     * destroyed before * the scope is closed. Does not wait. The task that opened the scope, or tasks in
     * it. */
    template <class F> void go(const char *name, F &&f)
    {
        using Job = job<std::decay_t<F>>;
        auto *j = new Job{this, std::forward<F>(f)}; /* from here on C's, which calls drop in any case */
        detail::check(filch_scope_go_named(&scope_, name, Job::run, j, Job::drop), "filch::scope::go");
    }
    template <class F> void go(F &&f) { go(nullptr, std::forward<F>(f)); }

    /* Waits until all have ended. Throws the first exception; or returns the first error, -ECANCELED,
     * -ETIMEDOUT, or 0. */
    int close()
    {
        int rc = finish();
        fail_.rethrow();
        return rc;
    }

    void cancel() noexcept { filch_scope_cancel(&scope_); }
    void deadline(std::int64_t when) noexcept { filch_scope_deadline(&scope_, when); }
    bool canceled() const noexcept { return filch_scope_canceled(&scope_) != 0; }
    filch_scope *get() noexcept { return &scope_; }
};

/* ---- channels -------------------------------------------------------------------------------- */

/* A channel of T. What cannot be copied as bytes goes through by address, one allocation each. */
template <class T> class channel {
    static constexpr bool plain = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>;
    using item = std::conditional_t<plain, T, T *>;
    filch_chan *chan_ = nullptr;

    int take(item *into, std::int64_t deadline) noexcept
    {
        detail::carrying exceptions;
        return filch_chan_recv(chan_, into, deadline);
    }

public:
    /* Keeps so many; 0: each is handed over; FILCH_UNBOUNDED: any number. */
    explicit channel(std::size_t capacity = 0)
    {
        detail::check(filch_chan_create(&chan_, sizeof(item), capacity), "filch::channel");
    }
    channel(const channel &) = delete;
    channel &operator=(const channel &) = delete;
    /* What was not received is destroyed. */
    ~channel()
    {
        if constexpr (!plain) {
            item left;
            filch_chan_close(chan_);
            while (take(&left, FILCH_NOW) == 0)
                delete left;
        }
        filch_chan_destroy(chan_);
    }

    /* As filch_chan_send: 0, or -EPIPE (closed), -ETIMEDOUT, -ECANCELED, -ENOMEM; then the value is lost. */
    int send(T value, std::int64_t deadline = FILCH_FOREVER)
    {
        detail::carrying exceptions;
        if constexpr (plain) {
            return filch_chan_send(chan_, &value, deadline);
        } else {
            auto kept = std::make_unique<T>(std::move(value));
            item address = kept.get();
            int rc = filch_chan_send(chan_, &address, deadline);
            if (rc == 0)
                (void)kept.release();
            return rc;
        }
    }

    /* As filch_chan_recv: 0, or -EPIPE (closed, and nothing left), -ETIMEDOUT, -ECANCELED. */
    int recv(T &value, std::int64_t deadline = FILCH_FOREVER)
    {
        item taken;
        int rc = take(&taken, deadline);
        if (rc != 0)
            return rc;
        if constexpr (plain)
            value = taken;
        else
            value = std::move(*std::unique_ptr<T>(taken));
        return 0;
    }

    /* The next one, or nothing: it was closed. */
    std::optional<T> recv()
    {
        item taken;
        int rc = take(&taken, FILCH_FOREVER);
        if (rc == -EPIPE)
            return std::nullopt;
        detail::check(rc, "filch::channel::recv");
        if constexpr (plain)
            return taken;
        else
            return std::move(*std::unique_ptr<T>(taken));
    }

    void close() noexcept { filch_chan_close(chan_); }
    std::size_t size() const noexcept { return filch_chan_length(chan_); }
    filch_chan *get() const noexcept { return chan_; }
};

} /* namespace filch */

#endif /* FILCH_HPP */
