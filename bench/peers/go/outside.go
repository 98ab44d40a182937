package main

// A thread that Go did not make asks Go for tasks.

/*
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct order {
    int n;
    long gap_ns;
};

extern void outsideSpawn(int i, long spawned); // latency.go

long outside_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *order_run(void *arg)
{
    const struct order *o = arg;
    for (int i = 0; i < o->n; i++) {
        long now = outside_clock();
        outsideSpawn(i, now);
        while (outside_clock() < now + o->gap_ns)
            ;
    }
    return NULL;
}

void outside_run(int n, long gap_ns)
{
    struct order o = {n, gap_ns};
    pthread_t thread;
    if (pthread_create(&thread, NULL, order_run, &o) || pthread_join(thread, NULL))
        abort();
}
*/
import "C"
