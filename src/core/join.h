/* join.h: the cold half of a join. */
#ifndef FILCH_JOIN_H
#define FILCH_JOIN_H

#include "core/run.h"

/* The thief is done with a job. Returns the fiber to resume, if one waits suspended. The slot may
 * be used anew, and its fiber be gone, as soon as this has stored DONE. */
struct fiber *join_finish(filch_slot *slot);

/* Runs one pending job of the calling fiber itself, oldest first. For pinned waits. */
bool join_run_own(struct worker *w, struct fiber *f);

#endif
