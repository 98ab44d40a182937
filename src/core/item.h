/* item.h: what stands in queues: a job, a fiber that can go on, a task that has not begun, a stackless
 * task, which knows how to run itself, or a call: a wait that is to be ended by whoever takes it out
 * (wait.h). A pointer and a tag. */
#ifndef FILCH_ITEM_H
#define FILCH_ITEM_H

#include "core/fiber.h"
#include "core/task.h"
#include "core/wait.h"

#include <filch.h>
#include <filch/async.h>

typedef uintptr_t work_item;
#define ITEM_FIBER ((uintptr_t)1)
#define ITEM_TASK ((uintptr_t)2)
#define ITEM_POLL ((uintptr_t)3)
#define ITEM_CALL ((uintptr_t)5) /* 4: see inject.h */
#define ITEM_TAG ((uintptr_t)7)

/* Lines from a wait up to its fiber's slots, and down to where its flow left. */
enum { ITEM_STACK_LINES = 9, ITEM_CALL_BELOW = 2 };

static inline work_item item_job(filch_job *job)
{
    return (uintptr_t)job;
}

static inline work_item item_fiber(struct fiber *f)
{
    return (uintptr_t)f | ITEM_FIBER;
}

static inline work_item item_task(filch_task *t)
{
    return (uintptr_t)t | ITEM_TASK;
}

static inline work_item item_poll(filch_async *a)
{
    return (uintptr_t)a | ITEM_POLL;
}

static inline work_item item_call(struct wait_node *n)
{
    return (uintptr_t)n | ITEM_CALL;
}

/* Null if it is something else. */
static inline struct fiber *item_as_fiber(work_item it)
{
    return (it & ITEM_TAG) == ITEM_FIBER ? (struct fiber *)(it & ~ITEM_TAG) : 0;
}

static inline filch_task *item_as_task(work_item it)
{
    return (it & ITEM_TAG) == ITEM_TASK ? (filch_task *)(it & ~ITEM_TAG) : 0;
}

static inline filch_async *item_as_poll(work_item it)
{
    return (it & ITEM_TAG) == ITEM_POLL ? (filch_async *)(it & ~ITEM_TAG) : 0;
}

static inline struct wait_node *item_as_call(work_item it)
{
    return (it & ITEM_TAG) == ITEM_CALL ? (struct wait_node *)(it & ~ITEM_TAG) : 0;
}

/* Where an item keeps its link to the next one in a list. */
static inline uintptr_t *item_link(work_item it)
{
    if (item_as_fiber(it))
        return &item_as_fiber(it)->link;
    if (item_as_task(it))
        return &item_as_task(it)->link;
    if (item_as_poll(it))
        return &item_as_poll(it)->link;
    if (item_as_call(it))
        return &item_as_call(it)->link;
    return &((filch_job *)it)->link;
}

/* Fetches a line of what stands for an item into the cache, to be written: he who made it has it in his. */
static FIBER_FETCHES void item_touch(work_item it)
{
    filch_prefetch_write((const char *)(it & ~ITEM_TAG));
}

/* Fetches what stands for an item into the cache: some lines of a fiber, a descriptor, a job. Of a call
 * everything that will be read: it is on the stack of who waits, and his fiber is just above. */
static FIBER_FETCHES void item_fetch(work_item it)
{
    const char *p = (const char *)(it & ~ITEM_TAG);
    if (item_as_call(it)) {
        for (int line = -ITEM_CALL_BELOW; line < ITEM_STACK_LINES; line++)
            filch_prefetch(p + 64 * line);
    } else if (item_as_fiber(it)) {
        fiber_fetch(item_as_fiber(it));
    } else {
        filch_prefetch_write(p);
        if (!item_as_task(it)) /* which has one line */
            filch_prefetch(p + 64);
    }
}

/* And the top of a fiber's stack, which is read on the way back to whoever waited: about 400 bytes up to the
 * loop below the task, where it ends. The fiber may run by now, so what it says of its stack may be old:
 * fibers stay mapped, and to fetch a wrong line is no harm. */
static FIBER_FETCHES void item_fetch_stack(work_item it)
{
    const struct fiber *f = item_as_fiber(it);
    for (int line = 0; f && line < ITEM_STACK_LINES; line++)
        filch_prefetch((const char *)f->context.sp + 64 * line);
}

#endif
