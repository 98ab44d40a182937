/* Divide and conquer with plain functions, for those who do not like macros. */
#include <filch.h>
#include <stdio.h>

enum { N = 1 << 20, GRAIN = 4096 };
static double values[N];

struct part {
    size_t low, high;
    double sum;
};

static void sum(void *arg)
{
    struct part *p = arg;
    if (p->high - p->low <= GRAIN) {
        for (size_t i = p->low; i < p->high; i++)
            p->sum += values[i];
        return;
    }
    size_t middle = p->low + (p->high - p->low) / 2;
    struct part a = {p->low, middle, 0}, b = {middle, p->high, 0};
    filch_join2(sum, &a, sum, &b); /* a runs here, b is stealable meanwhile */
    p->sum = a.sum + b.sum;
}

int main(void)
{
    for (size_t i = 0; i < N; i++)
        values[i] = 0.5;
    struct part all = {0, N, 0};
    filch_run_on(NULL, sum, &all);
    printf("sum = %.1f\n", all.sum);
    return all.sum == N / 2 ? 0 : 1;
}
