/* theory.h: what queueing theory and the bounds for work stealing say, to check a simulation against.
 *
 * Times are doubles in any unit, rates are per that unit. A queue that does not settle (load >= 1) has
 * infinite means. Arguments out of range (negative, no servers) give NaN.
 */
#ifndef FILCH_SIM_THEORY_H
#define FILCH_SIM_THEORY_H

#include <stdint.h>

/* ---- open queues: Poisson arrivals at `rate`, mean service time `service`, first come first served -- */

double theory_load(double rate, double service, unsigned servers); /* rate * service / servers */

/* M/M/1: exponential service. */
double theory_mm1_number(double rate, double service); /* mean number in the system */
double theory_mm1_time(double rate, double service);   /* mean time in the system, service included */
double theory_mm1_time_quantile(double rate, double service, double p); /* 0 <= p < 1 */

/* M/M/c: exponential service, `servers` of them. Fine for any number of servers. */
double theory_mmc_wait_probability(double rate, double service, unsigned servers); /* Erlang's C */
double theory_mmc_wait(double rate, double service, unsigned servers); /* mean time in the queue */
double theory_mmc_time(double rate, double service, unsigned servers);
double theory_mmc_number(double rate, double service, unsigned servers);

/* M/G/1 after Pollaczek and Khinchine; scv is the variance of service over the square of its mean. */
double theory_mg1_wait(double rate, double service, double scv);
double theory_mg1_time(double rate, double service, double scv);
double theory_mg1_number(double rate, double service, double scv);
double theory_md1_wait(double rate, double service); /* constant service */

/* ---- a closed system: workers that each execute for a mean time, then queue for one lock ------------ */

/* `workers` circulate: executing (exponential or not, mean `execution`, all at once), then first come
 * first served at one server with exponential service (mean `service`). Also known as machine repair. */
struct theory_closed {
    double throughput;  /* passages per time */
    double response;    /* mean time at the server, queueing included */
    double queue;       /* mean number there */
    double utilisation; /* of the server */
};

struct theory_closed theory_closed(uint64_t workers, double execution, double service);

/* (E + S) / S workers: so many could work without ever waiting if nothing were random; more cannot raise
 * the throughput above 1 / S. */
double theory_knee(double execution, double service);

/* ---- bounds for a computation: work T1 (time on one worker), span Tinf (critical path) --------------- */

double theory_time_least(double work, double span, uint64_t workers); /* max(T1 / P, Tinf) */
double theory_time_greedy(double work, double span, uint64_t workers); /* T1 / P + Tinf */

#endif
