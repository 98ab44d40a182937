/* The ten lines at the top of filch.h, as a user would compile them. */
#include <filch.h>
#include <stdio.h>

FILCH_TASK(long, fib, int, n)
{
    if (n < 2) return n;
    FILCH_FORK(b, fib, n - 2);
    long a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib, b);
}

int main(void)
{
    printf("%ld\n", FILCH_RUN(fib, 20));
    return 0;
}
