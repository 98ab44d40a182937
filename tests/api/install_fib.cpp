/* Built against the installed tree by install.sh. */
#include <cstdio>
#include <filch.hpp>

static long fib(int n)
{
    if (n < 2)
        return n;
    auto [a, b] = filch::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
    return a + b;
}

int main()
{
    std::printf("%ld\n", fib(20));
}
