/* filch/cpp/sort.hpp: sorting elements of any type. See filch.hpp. */
#ifndef FILCH_CPP_SORT_HPP
#define FILCH_CPP_SORT_HPP

#include <algorithm>
#include <filch/cpp/loop.hpp>
#include <filch/sort.h>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace filch {

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

} /* namespace filch */

#endif /* FILCH_CPP_SORT_HPP */
