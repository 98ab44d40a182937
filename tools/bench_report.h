/* bench_report.h: the rows of one case, for people or for programs. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench_plan.h"

enum report_form { REPORT_TABLE, REPORT_JSON, REPORT_CSV };

void report_begin(enum report_form form);
void report_case(enum report_form form, const struct plan_row *rows, int n);

#endif
