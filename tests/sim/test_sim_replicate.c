/* test_sim_replicate.c: replications on a pool. */
#include "pairs_kit.h"
#include "sim/replicate.h"

#ifdef SIM_SHORT
enum { REPLICATIONS = 300 };
#else
enum { REPLICATIONS = 3000 };
#endif

static int run_on(int threads, const struct setup_run *const *runs, struct replications *out)
{
    const struct replicate_options options = {.threads = threads};
    char message[200] = "";
    return replicate(runs, 1, 0, REPLICATIONS, &options, out, message, sizeof message);
}

/* A hang is the failure: short runs meet at the lock of the batch all the time. */
static void short_replications_end_and_are_those_of_one_thread(void)
{
    static struct setup_run run;
    const struct setup_run *const runs[] = {&run};
    struct replications one = {0}, four = {0};
    make_pairs(&run, "workers=3 tasks=5 duration=uniform:1..3");
    CHECK_EQ(run_on(1, runs, &one), 0);
    for (int round = 0; round < 3; round++) {
        memset(&four, 0, sizeof four);
        CHECK_EQ(run_on(4, runs, &four), 0);
        CHECK_EQ(four.n, REPLICATIONS);
        CHECK(memcmp(one.value, four.value, REPLICATIONS * sizeof *one.value) == 0);
        CHECK(memcmp(one.latency, four.latency, sizeof *one.latency) == 0);
        replications_free(&four);
    }
    replications_free(&one);
    setup_free(&run);
}

int main(void)
{
    RUN(short_replications_end_and_are_those_of_one_thread);
    return check_report();
}
