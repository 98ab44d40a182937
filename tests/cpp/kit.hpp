/* kit.hpp: what the tests of filch.hpp share. */
#ifndef FILCH_TESTS_CPP_KIT_HPP
#define FILCH_TESTS_CPP_KIT_HPP

#include "check.h"

#include <atomic>
#include <filch.hpp>
#include <sched.h>
#include <stdexcept>
#include <string>

/* Sanitizers are about ten times slower: so much less is done. */
#if defined(FILCH_TSAN) || defined(__SANITIZE_ADDRESS__)
constexpr bool kit_slow = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kit_slow = true;
#else
constexpr bool kit_slow = false;
#endif
#else
constexpr bool kit_slow = false;
#endif

constexpr std::size_t scaled(std::size_t n)
{
    return kit_slow ? n / 10 : n;
}

inline filch::pool kit_pool(int workers)
{
    filch::config c;
    c.no_environment = 1;
    c.workers = workers;
    return filch::pool(c);
}

/* A how on a pool, with pieces as small as possible: the most steals. */
inline filch::how fine(const filch::pool &p)
{
    filch::how h(p);
    h.grain = 1;
    return h;
}

/* Keeps its thread until then: nobody else runs on it. */
template <class Cond> void await(Cond cond)
{
    while (!cond())
        sched_yield();
}

/* Does f() throw this? */
template <class E, class F> bool throws(F &&f)
{
    try {
        f();
    } catch (const E &) {
        return true;
    }
    return false;
}

template <class F> std::string what_of(F &&f)
{
    try {
        f();
    } catch (const std::exception &e) {
        return e.what();
    }
    return "nothing was thrown";
}

/* A value that counts how many there are; a copy of a negative one fails. */
struct counted {
    static inline std::atomic<long> alive{0};
    static inline std::atomic<long> made{0};
    long value;
    std::string text = "long enough not to be stored in the string itself";

    explicit counted(long v) : value(v) { count(); }
    counted(const counted &o) : value(o.value), text(o.text)
    {
        if (value < 0)
            throw std::runtime_error("cannot be copied");
        count();
    }
    counted(counted &&o) noexcept : value(o.value), text(std::move(o.text)) { count(); }
    counted &operator=(const counted &) = default;
    counted &operator=(counted &&) = default;
    ~counted() { alive--; }

private:
    static void count()
    {
        alive++;
        made++;
    }
};

#endif
