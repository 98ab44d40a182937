/* mutex.h: what other parts need of filch_mutex. */
#ifndef FILCH_FIBER_MUTEX_H
#define FILCH_FIBER_MUTEX_H

#include <filch/sync.h>

/* Misuse is reported as of this call. */
void mutex_unlock(filch_mutex *m, const char *call);
/* Whatever happens to the caller meanwhile, it has the mutex when this returns. */
void mutex_lock_again(filch_mutex *m);

#endif
