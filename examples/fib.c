/* The smallest program: typed fork-join on the default pool. */
#include <filch.h>
#include <stdio.h>

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, n - 2);       /* stealable from here on    */
    long a = FILCH_CALL(fib, n - 1); /* first child runs inline   */
    return a + FILCH_JOIN(fib, b);   /* direct call unless stolen */
}

int main(void)
{
    long n = FILCH_RUN(fib, 30);
    printf("fib(30) = %ld\n", n);
    return n == 832040 ? 0 : 1;
}
