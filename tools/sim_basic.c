/* sim_basic.c: one run, shown as it went. */
#include "cli.h"
#include "sim.h"
#include <inttypes.h>
#include <string.h>

static void answer(struct sim_job *job, const struct sim_result *r)
{
    const struct sim_worker_result *s = &r->sum;
    double rate = s->executed ? 100 * (double)s->stolen / (double)s->executed : 0;
    double speedup = r->makespan ? (double)s->busy / (double)r->makespan : 0;
    findings_answer(job->findings,
                    "%" PRIu64 " of %" PRIu64 " tasks (%.1f %%) were stolen; %s after %s, in which "
                    "the %u workers were busy for %s: a speed-up of %.2f.", s->stolen, s->executed, rate,
                    sim_end_name(r->how), sim_duration(job, sim_time_seconds(r->makespan)), r->workers,
                    sim_duration(job, sim_time_seconds(s->busy)), speedup);
}

int sim_run_plain(struct sim_job *job)
{
    struct setup_run run;
    struct sim_result r;
    int rc = sim_make(job, NULL, 0, &run);
    if (rc != CLI_OK)
        return rc;
    rc = sim_show_once(job, &run, job->scenario->summary, 0, &r);
    if (rc == CLI_OK) {
        answer(job, &r);
        if (r.how != SIM_DONE && r.how != SIM_TIME_UP)
            rc = CLI_FAILED;
        sim_result_free(&r);
    }
    setup_free(&run);
    return rc;
}
