/* bench_run.h: runs a benchmark program once. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "bench_plan.h"

/* The folder of the benchmark programs: $FILCH_BENCH_DIR, or beside this program in bench/, or in
 * ../libexec/filch. Returns null if there is none. In static storage. */
const char *run_folder(void);

/* Adds a sample to the row, or an error, which ends the row. */
void run_once(struct plan_row *row, const char *folder, int timeout_s);

#endif
