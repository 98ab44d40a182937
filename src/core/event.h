/* event.h: one word that can be waited for. Events, and the end of jobs.
 *
 * state: 0 not set, 1 set, else the list of waiters. If there is just one, and nothing else can end his wait
 * (wait_is_sole), bit 1 says so and the number of his pool stands in the upper 16 bits. Somebody of that pool
 * who sets the event need not look at him: he puts a call into his queue (item.h), as he would the fiber.
 *
 * | field  | writer      | reader | invariant                                                  |
 * | state  | lock holder | anyone | 1 until reset; the setter does not touch it after storing 1, |
 * |        |             |        | so its owner may free it as soon as it reads 1              |
 * | nodes  | lock holder; then the setter, who took the list (wait.h [V3])                     |
 *
 * The lock is one of a fixed table, by address: the word itself may be gone when it is released.
 * [E1] state = 1 is stored with release; whoever reads 1 (acquire) sees what the setter wrote.
 */
#ifndef FILCH_EVENT_H
#define FILCH_EVENT_H

#include <filch/forkjoin.h>
#include <stdbool.h>
#include <stdint.h>

/* Sets it and wakes everyone. The last access to *state is the store that makes it set. */
void event_set(uintptr_t *state);
bool event_is_set(const uintptr_t *state);
/* Not set any more. Those who were woken have nothing to do with the word (they look at their own node
 * alone), so a wait that comes later cannot be mistaken for theirs. */
void event_reset(uintptr_t *state);

/* 0 or -ETIMEDOUT. A fiber is suspended (its pending jobs stay visible), a thread sleeps. The second
 * form also ends with -ECANCELED if the caller's scope is cancelled. */
int event_wait(uintptr_t *state, int64_t deadline);
int event_wait_canceled(uintptr_t *state, int64_t deadline);
struct wait_subject;
int event_wait_about(uintptr_t *state, int64_t deadline, const struct wait_subject *about,
                     const void *object);

/* How long a waiter may sleep that counts on this pool: not long if it is short of threads. */
int64_t event_deadline(filch_pool *pool, int64_t deadline);

void event_reset_locks(void); /* in the child of fork() */

#endif
