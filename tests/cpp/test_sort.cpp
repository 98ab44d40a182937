/* test_sort.cpp: filch::sort and filch::stable_sort over all kinds of elements. */
#include "kit.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <random>
#include <vector>

static std::mt19937_64 numbers(12345);

template <class T> std::vector<T> some(size_t n)
{
    std::vector<T> v(n);
    for (T &x : v)
        x = static_cast<T>(numbers());
    return v;
}

template <class T> void numbers_are_sorted_as()
{
    for (size_t n : {size_t(0), size_t(1), size_t(2), size_t(1000), scaled(200000)}) {
        auto v = some<T>(n), w = v, x = v;
        filch::sort(v.begin(), v.end());
        filch::stable_sort(x.begin(), x.end());
        std::sort(w.begin(), w.end());
        CHECK(v == w && x == w);
    }
}

static void numbers_are_sorted()
{
    numbers_are_sorted_as<std::int8_t>();
    numbers_are_sorted_as<std::uint16_t>();
    numbers_are_sorted_as<int>();
    numbers_are_sorted_as<long long>();
    numbers_are_sorted_as<std::size_t>();
    numbers_are_sorted_as<float>();
    numbers_are_sorted_as<double>();
    numbers_are_sorted_as<long double>();
}

static void all_kinds_of_ranges_are_sorted()
{
    filch::pool pool = kit_pool(2);
    int a[] = {3, 1, 2};
    std::array<int, 4> b = {4, 1, 3, 2};
    std::string text = "sorting";
    auto v = some<int>(3000);
    std::deque<int> d(v.begin(), v.end());
    filch::sort(a, a + 3);
    filch::sort(pool, b.begin(), b.end());
    filch::sort(text.begin(), text.end());
    filch::sort(pool, d.begin(), d.end(), std::greater<>());
    CHECK(a[0] == 1 && a[1] == 2 && a[2] == 3);
    CHECK(std::is_sorted(b.begin(), b.end()));
    CHECK(text == "ginorst");
    CHECK(std::is_sorted(d.rbegin(), d.rend()));
    filch::sort(v.rbegin(), v.rend());
    CHECK(std::is_sorted(v.rbegin(), v.rend()));
}

struct record {
    unsigned key;
    size_t index;
};

template <class T> void stable_as(std::vector<T> v)
{
    const auto less = [](const auto &a, const auto &b) { return a.key < b.key; };
    auto w = v;
    filch::stable_sort(v.begin(), v.end(), less);
    std::stable_sort(w.begin(), w.end(), less);
    for (size_t i = 0; i < v.size(); i++)
        CHECK(v[i].key == w[i].key && v[i].index == w[i].index);
}

struct heavy_record : record {
    counted rest{1};
};

struct alignas(64) wide_record : record {
};

static void a_stable_sort_keeps_the_order_of_equals()
{
    size_t n = scaled(50000);
    std::vector<record> v(n);
    std::vector<wide_record> wide(n);
    std::vector<heavy_record> heavy(n / 10);
    for (size_t i = 0; i < n; i++) {
        v[i] = {unsigned(numbers() % 100), i};
        static_cast<record &>(wide[i]) = v[i];
        if (i < heavy.size())
            static_cast<record &>(heavy[i]) = v[i];
    }
    stable_as(v);
    stable_as(wide);
    stable_as(std::move(heavy));
    CHECK_EQ(counted::alive, 0);
}

static void zeroes_of_both_signs_are_equal_in_a_stable_sort()
{
    std::vector<double> v = {0., -0., 1., -0., 0.};
    filch::stable_sort(v.begin(), v.end());
    CHECK(!std::signbit(v[0]) && std::signbit(v[1]) && std::signbit(v[2]) && !std::signbit(v[3]));
}

static void elements_that_only_move_are_sorted()
{
    std::vector<std::unique_ptr<unsigned long>> v;
    for (size_t i = 0; i < scaled(50000); i++)
        v.push_back(std::make_unique<unsigned long>(numbers()));
    filch::sort(v.begin(), v.end(), [](const auto &a, const auto &b) { return *a < *b; });
    for (size_t i = 1; i < v.size(); i++)
        CHECK(*v[i - 1] <= *v[i]);
}

static void strings_and_pairs_are_sorted()
{
    std::vector<std::string> s, t;
    std::vector<std::pair<int, double>> p, q;
    static_assert(filch::moves_as_bytes<std::pair<int, double>>::value);
    static_assert(!filch::moves_as_bytes<std::pair<int, std::string>>::value);
    for (size_t i = 0; i < scaled(50000); i++) {
        s.push_back(std::to_string(numbers()));
        p.emplace_back(int(numbers() % 100), double(numbers()));
    }
    t = s;
    q = p;
    filch::sort(s.begin(), s.end());
    std::sort(t.begin(), t.end());
    filch::sort(p.begin(), p.end());
    std::sort(q.begin(), q.end());
    CHECK(s == t);
    CHECK(p == q);
}

/* Its moves may throw, as far as one can see. */
struct clumsy {
    int value;
    explicit clumsy(int v) : value(v) {}
    clumsy(const clumsy &o) noexcept(false) : value(o.value) {}
    clumsy &operator=(const clumsy &) = default;
};

static void elements_whose_moves_may_throw_are_sorted()
{
    std::vector<clumsy> v;
    for (int i = 0; i < 1000; i++)
        v.emplace_back(i * 7919 % 1000);
    filch::sort(v.begin(), v.end(), [](const clumsy &a, const clumsy &b) { return a.value < b.value; });
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(v[static_cast<size_t>(i)].value, i);
}

template <class T, class Value> void survives(std::vector<T> v, Value value)
{
    size_t n = v.size();
    std::atomic<size_t> calls{0};
    auto bad = [&](const T &a, const T &b) {
        if (calls++ == n)
            throw std::runtime_error("less");
        return value(a) < value(b);
    };
    CHECK_STR(what_of([&] { filch::sort(v.begin(), v.end(), bad); }).c_str(), "less");
    std::vector<bool> there(n);
    for (const T &x : v)
        there[static_cast<size_t>(value(x))] = true;
    for (bool t : there)
        CHECK(t);
}

static void all_elements_are_there_after_a_comparison_threw()
{
    const int n = 5000;
    std::vector<int> v;
    std::vector<std::string> s;
    for (int i = 0; i < n; i++) {
        v.push_back(i * 7919 % n);
        s.push_back(std::to_string(v.back()));
    }
    survives(v, [](int x) { return x; });
    survives(s, [](const std::string &x) { return std::stoi(x); });
}

static void a_cancelled_sort_throws_and_loses_nothing()
{
    filch::pool pool = kit_pool(2);
    filch::scope scope(pool);
    filch::how h(pool);
    h.scope = scope.get();
    scope.cancel();
    std::vector<std::string> s;
    for (int i = 0; i < 3000; i++)
        s.push_back(std::to_string(i));
    auto t = s;
    CHECK(throws<filch::canceled_error>([&] { filch::sort(h, s.begin(), s.end(), std::greater<>()); }));
    std::sort(s.begin(), s.end());
    std::sort(t.begin(), t.end());
    CHECK(s == t);
    CHECK_EQ(scope.close(), -ECANCELED);
}

int main()
{
    RUN(numbers_are_sorted);
    RUN(all_kinds_of_ranges_are_sorted);
    RUN(a_stable_sort_keeps_the_order_of_equals);
    RUN(zeroes_of_both_signs_are_equal_in_a_stable_sort);
    RUN(elements_that_only_move_are_sorted);
    RUN(strings_and_pairs_are_sorted);
    RUN(elements_whose_moves_may_throw_are_sorted);
    RUN(all_elements_are_there_after_a_comparison_threw);
    RUN(a_cancelled_sort_throws_and_loses_nothing);
    return check_report();
}
