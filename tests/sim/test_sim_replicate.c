/* test_sim_replicate.c: replications on a pool. */
#include "pairs_kit.h"
#include "sim/replicate.h"

#ifdef SIM_SHORT
enum { REPLICATIONS = 300 };
#else
enum { REPLICATIONS = 2000 };
#endif

static int run_on(int threads, const struct setup_run *const *runs, struct replications *out)
{
    const struct replicate_options options = {.threads = threads};
    char message[200] = "";
    return replicate(runs, 1, 0, REPLICATIONS, &options, out, message, sizeof message);
}

/* A hang is the failure: short runs meet at the lock of the batch all the time. Rounds have two threads, or
 * as many as there are CPUs. */
static void short_replications_end_and_are_those_of_one_thread(void)
{
    static struct setup_run run;
    const struct setup_run *const runs[] = {&run};
    struct replications one = {0}, many = {0};
    make_pairs(&run, "load=spawning workers=4 tasks=20 arrive=gaps duration=uniform:1..3");
    CHECK_EQ(run_on(1, runs, &one), 0);
    for (int round = 0; round < 12; round++) {
        memset(&many, 0, sizeof many);
        CHECK_EQ(run_on(round % 2 ? 0 : 2, runs, &many), 0);
        CHECK_EQ(many.n, REPLICATIONS);
        CHECK(memcmp(one.value, many.value, REPLICATIONS * sizeof *one.value) == 0);
        CHECK(memcmp(one.latency, many.latency, sizeof *one.latency) == 0);
        replications_free(&many);
    }
    replications_free(&one);
    setup_free(&run);
}

int main(void)
{
    RUN(short_replications_end_and_are_those_of_one_thread);
    return check_report();
}
