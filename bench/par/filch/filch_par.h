/* filch_par.h: the cases on filch. */
#ifndef FILCH_PAR_BENCH_H
#define FILCH_PAR_BENCH_H

#include "../loops.h"
#include <filch.h>
#include <filch/par.h>

#endif
