/* filch/cpp/task.hpp: tasks, scopes and channels with lambdas. See filch.hpp. */
#ifndef FILCH_CPP_TASK_HPP
#define FILCH_CPP_TASK_HPP

#include <filch/chan.h>
#include <filch/cpp/base.hpp>
#include <filch/scope.h>
#include <filch/task.h>

namespace filch {

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
    /* Waits for its end, until the deadline at most. Has it ended? */
    bool wait(time_limit deadline = FILCH_FOREVER) { return !task_ || ended(deadline); }

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
    void deadline(time_limit when) noexcept { filch_scope_deadline(&scope_, when); }
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
    int send(T value, time_limit deadline = FILCH_FOREVER)
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
    int recv(T &value, time_limit deadline = FILCH_FOREVER)
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

#endif /* FILCH_CPP_TASK_HPP */
