/* dump.h: filch/dump.h and what pool.c and dump.c need from each other. */
#ifndef FILCH_CORE_DUMP_H
#define FILCH_CORE_DUMP_H

#include <filch/dump.h>

/* Once per process: FILCH_DUMP=1 in the environment. */
void dump_prepare(void);

/* A signal may come: waits of new pools keep the time. */
int dump_by_signal(void);

/* Every pool, while none comes or goes (pool.c). Stops at the first that returns not 0. */
int pool_each(int (*fn)(filch_pool *pool, void *arg), void *arg);

#endif
