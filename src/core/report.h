/* report.h: what the library says on stderr.
 *
 * A caller's mistake is one line that names the call and what to do, then abort. A bad setting is
 * one line and the default. Both are written in one piece, so that lines of threads do not mix. */
#ifndef FILCH_REPORT_H
#define FILCH_REPORT_H

#include <stdint.h>

void report_misuse(const char *call, const char *text) __attribute__((cold, noreturn));
void report_misuse_named(const char *call, const char *text, const char *name)
    __attribute__((cold, noreturn));
void report_warning(const char *format, ...) __attribute__((cold, format(printf, 1, 2)));
/* The same, but for the first of all calls with this `said` only. It begins as 0. */
void report_once(uint32_t *said, const char *format, ...) __attribute__((cold, format(printf, 2, 3)));

/* This call ends by its deadline: if that is before the program began, it was probably meant to be a
 * duration, and a line says so, once per process. Waits that were parked do this by themselves (wait.c). */
void report_duration(const char *call, int64_t deadline);

/* Invariants that always hold; kept in the product because each costs one comparison off the
 * path. `dcheck` is for debug builds. */
#define check(cond)                                                                               \
    (__builtin_expect(!(cond), 0) ? report_misuse("internal", "invariant broken: " #cond) : (void)0)
#ifdef FILCH_DEBUG
#define dcheck(cond) check(cond)
#else
#define dcheck(cond) ((void)sizeof(cond))
#endif

#endif
