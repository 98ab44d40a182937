/* item.h: what stands in queues: a job, or a fiber that can go on. A pointer and a tag. */
#ifndef FILCH_ITEM_H
#define FILCH_ITEM_H

#include "core/fiber.h"

#include <filch.h>

typedef uintptr_t work_item;
#define ITEM_FIBER ((uintptr_t)1)

static inline work_item item_job(filch_job *job)
{
    return (uintptr_t)job;
}

static inline work_item item_fiber(struct fiber *f)
{
    return (uintptr_t)f | ITEM_FIBER;
}

/* Where an item keeps its link to the next one in a list. */
static inline uintptr_t *item_link(work_item it)
{
    if (it & ITEM_FIBER)
        return &((struct fiber *)(it & ~ITEM_FIBER))->link;
    return &((filch_job *)it)->link;
}

#endif
