/* filch/cpp/join.hpp: fork-join with lambdas. See filch.hpp. */
#ifndef FILCH_CPP_JOIN_HPP
#define FILCH_CPP_JOIN_HPP

#include <filch/cpp/base.hpp>
#include <tuple>

namespace filch {

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

} /* namespace filch */

#endif /* FILCH_CPP_JOIN_HPP */
