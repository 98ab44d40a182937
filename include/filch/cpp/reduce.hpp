/* filch/cpp/reduce.hpp: reductions to values of any type. See filch.hpp. */
#ifndef FILCH_CPP_REDUCE_HPP
#define FILCH_CPP_REDUCE_HPP

#include <filch/cpp/loop.hpp>
#include <new>

namespace filch {

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

} /* namespace filch */

#endif /* FILCH_CPP_REDUCE_HPP */
