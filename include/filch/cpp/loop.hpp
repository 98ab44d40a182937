/* filch/cpp/loop.hpp: loops and searches with lambdas. See filch.hpp. */
#ifndef FILCH_CPP_LOOP_HPP
#define FILCH_CPP_LOOP_HPP

#include <filch/cpp/base.hpp>
#include <filch/par.h>
#include <iterator>

namespace filch {

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

} /* namespace filch */

#endif /* FILCH_CPP_LOOP_HPP */
