/* filch/dump.h: what every task is doing, and what it waits for.
 *
 *     filch_dump(2);                      // to stderr, now
 *     filch_dump_on_signal(SIGQUIT);      // to stderr, whenever the signal comes: kill -QUIT, Ctrl-\
 *
 * For each pool: its workers, every task with its name and state, for those that wait the call, the
 * object, for how long, and the stack; then circles of tasks that wait for each other. FILCH_DUMP=1
 * in the environment of any program does the second line.
 *
 * A dump stops nobody: each line was true at some moment, not all at the same. How long a wait has
 * lasted is known from the first dump (or filch_dump_on_signal, or FILCH_DUMP=1) on. Stacks are
 * scanned for return addresses, which may also find old ones; for exact stacks see share/filch/filch-gdb.py.
 */
#ifndef FILCH_DUMP_H
#define FILCH_DUMP_H

#include <filch/forkjoin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes it to a file descriptor; one pool only, or all. Returns 0, -ENOMEM, or the error of the
 * write. Any thread; takes milliseconds for thousands of tasks. Not in a signal handler. */
FILCH_API int filch_dump(int fd);
FILCH_API int filch_pool_dump(filch_pool *pool, int fd);

/* From now on the signal makes a dump to stderr, by a thread made for that; what was done about the
 * signal before is replaced. 0: no more; the thread ends, and the signal does what it does by default.
 * Returns 0 or -errno. Any thread. In a child of fork() it has to be called again. */
FILCH_API int filch_dump_on_signal(int signo);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_DUMP_H */
