#ifndef SERIAL_H
#define SERIAL_H

#include "../common/bench.h"

bench_work serial_fib, serial_tree, serial_nqueens, serial_uts, serial_spine;

#endif
