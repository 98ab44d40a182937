/* go.h: tasks begin and end. */
#ifndef FILCH_GO_H
#define FILCH_GO_H

#include "core/worker.h"

/* The task ran: tell whoever joins it. It may be gone afterwards. */
void go_finish(filch_task *t);

#endif
