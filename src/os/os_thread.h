/* os_thread.h: what a thread of the library keeps from the thread outside that it stems from.
 *
 * A thread that os_thread_start made blocks signals and sleeps precisely. Its child processes are to get
 * what a thread outside would give them. Inherited when one thread of the library starts another. */
#ifndef FILCH_OS_THREAD_H
#define FILCH_OS_THREAD_H

#include <signal.h>
#include <stdbool.h>

struct os_outside {
    bool is;                /* the thread is the library's */
    unsigned long slack_ns; /* timer slack; 0: not known   */
    sigset_t mask;
};

/* Of the calling thread; null if it is not the library's. Never inlined, as os_self_get. */
const struct os_outside *os_thread_outside(void) __attribute__((noinline));

/* Sleeps of tens of microseconds are usual here; by default the kernel adds fifty. */
#define OS_THREAD_SLACK_NS 1000UL

void os_slack_set(unsigned long ns); /* 0: the thread's default, which it has from its starter */

#endif
