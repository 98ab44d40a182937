/* coverage_exit.c: counts of processes that do not end by exit().
 *
 * Counters are written when a process exits. Many tests look at children that abort, raise a signal
 * or leave by _exit: scripts/coverage.sh links every program with this file and with --wrap for these
 * calls, so that what such a child ran is counted, too. One that dies of a fault writes nothing. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

extern void __gcov_dump(void);
extern void __gcov_reset(void);

_Noreturn void __real__exit(int status);
_Noreturn void __real_abort(void);
int __real_raise(int sig);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap_abort(void);
int __wrap_raise(int sig);

void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}

void __wrap_abort(void)
{
    __gcov_dump();
    __real_abort();
}

int __wrap_raise(int sig)
{
    __gcov_dump(); /* counting goes on afterwards: what is written is added up */
    __gcov_reset();
    return __real_raise(sig);
}
