#include "sim/theory.h"
#include "sim/math.h"

#include <stdbool.h>

static bool is_valid(double rate, double service)
{
    return rate >= 0 && service >= 0 && rate < SIM_INFINITY && service < SIM_INFINITY;
}

double theory_load(double rate, double service, unsigned servers)
{
    return is_valid(rate, service) && servers ? rate * service / servers : SIM_NAN;
}

double theory_mm1_number(double rate, double service)
{
    double load = theory_load(rate, service, 1);
    if (load >= 1)
        return SIM_INFINITY;
    return load / (1 - load);
}

double theory_mm1_time(double rate, double service)
{
    double load = theory_load(rate, service, 1);
    if (load >= 1)
        return SIM_INFINITY;
    return service / (1 - load);
}

/* The time in the system is exponential. */
double theory_mm1_time_quantile(double rate, double service, double p)
{
    if (!(p >= 0 && p < 1))
        return SIM_NAN;
    return p > 0 ? -sim_log1p(-p) * theory_mm1_time(rate, service) : 0;
}

/* Erlang's B by its recursion in the number of servers: every step is a number from 0 to 1, where the
 * quotients of powers and factorials would overflow. C follows from B. */
double theory_mmc_wait_probability(double rate, double service, unsigned servers)
{
    double load = theory_load(rate, service, servers), offered = rate * service, blocked = 1;
    if (load >= 1)
        return 1;
    if (load != load)
        return load;
    for (unsigned k = 1; k <= servers; k++)
        blocked = offered * blocked / (k + offered * blocked);
    return blocked / (1 - load * (1 - blocked));
}

double theory_mmc_wait(double rate, double service, unsigned servers)
{
    double load = theory_load(rate, service, servers);
    if (load >= 1)
        return SIM_INFINITY;
    return theory_mmc_wait_probability(rate, service, servers) * service / (servers * (1 - load));
}

double theory_mmc_time(double rate, double service, unsigned servers)
{
    return theory_mmc_wait(rate, service, servers) + service;
}

/* Little's law. */
double theory_mmc_number(double rate, double service, unsigned servers)
{
    return rate > 0 ? rate * theory_mmc_time(rate, service, servers) : theory_load(rate, service, servers);
}

double theory_mg1_wait(double rate, double service, double scv)
{
    double load = theory_load(rate, service, 1);
    if (!(scv >= 0))
        return SIM_NAN;
    if (load >= 1)
        return SIM_INFINITY;
    if (load == 0)
        return 0;
    return load * service * (1 + scv) / (2 * (1 - load));
}

double theory_mg1_time(double rate, double service, double scv)
{
    return theory_mg1_wait(rate, service, scv) + service;
}

double theory_mg1_number(double rate, double service, double scv)
{
    return rate > 0 ? rate * theory_mg1_time(rate, service, scv) : theory_load(rate, service, 1);
}

double theory_md1_wait(double rate, double service)
{
    return theory_mg1_wait(rate, service, 0);
}

/* Mean value analysis, exact for exponential service: who arrives at the server sees the queue of a system
 * with one worker less. */
struct theory_closed theory_closed(uint64_t workers, double execution, double service)
{
    struct theory_closed c = {0};
    if (!(execution >= 0 && service >= 0 && execution + service > 0))
        return (struct theory_closed){SIM_NAN, SIM_NAN, SIM_NAN, SIM_NAN};
    for (uint64_t n = 1; n <= workers; n++) {
        c.response = service * (1 + c.queue);
        c.throughput = (double)n / (execution + c.response);
        c.queue = c.throughput * c.response;
    }
    c.utilisation = c.throughput * service;
    return c;
}

double theory_knee(double execution, double service)
{
    if (!(execution >= 0 && service >= 0))
        return SIM_NAN;
    return service > 0 ? (execution + service) / service : SIM_INFINITY;
}

double theory_time_least(double work, double span, uint64_t workers)
{
    double shared = work / (double)workers;
    return workers ? (shared > span ? shared : span) : SIM_NAN;
}

double theory_time_greedy(double work, double span, uint64_t workers)
{
    return workers ? work / (double)workers + span : SIM_NAN;
}
