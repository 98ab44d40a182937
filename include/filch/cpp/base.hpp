/* filch/cpp/base.hpp: what the parts of filch.hpp share: errors, exceptions that go from one flow to another,
 * pools, and how things run. */
#ifndef FILCH_CPP_BASE_HPP
#define FILCH_CPP_BASE_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <filch/how.h>
#include <filch/task.h>
#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

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

/* ---- time ----------------------------------------------------------------------------------- */

/* Until when a call waits: a duration from now (std::chrono), a time of std::chrono::steady_clock, or, as in
 * C, a number of filch_clock_ns, FILCH_NOW or FILCH_FOREVER. */
class time_limit {
public:
    time_limit(std::int64_t clock_ns) noexcept : ns_(clock_ns) {}
    template <class Rep, class Period>
    time_limit(std::chrono::duration<Rep, Period> from_now) noexcept
        : ns_(filch_after_s(std::chrono::duration<double>(from_now).count()))
    {
    }
    template <class Duration>
    time_limit(std::chrono::time_point<std::chrono::steady_clock, Duration> when) noexcept
        : ns_(std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count())
    {
    }
    operator std::int64_t() const noexcept { return ns_; }

private:
    std::int64_t ns_;
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

} /* namespace filch */

#endif /* FILCH_CPP_BASE_HPP */
