/* test_scan_late.c: a strand of a scan that waits for its prefix sleeps, also if the one who published an
 * earlier prefix at the same link was slow to set its event. The scan is compiled once more with slow
 * setters. */
#include "../par_places.h"

#include "core/event.h"

static uint32_t sets, waits;

static void late_set(uintptr_t *state)
{
    if (kit_count(&sets) % 3 == 0)
        kit_nap_us(200);
    event_set(state);
}

static int counted_wait(uintptr_t *state, int64_t deadline)
{
    kit_count(&waits);
    return event_wait(state, deadline);
}

#define event_set late_set
#define event_wait counted_wait
#define run chain_run
#include "par/scan.c"
#undef event_set
#undef event_wait
#undef run

enum { BLOCKS = 100 };
static uint64_t sums[BLOCKS];

/* Every now and then the others have to wait. */
static void adds(void *state, size_t lo, size_t hi, void *arg)
{
    (void)arg;
    if (lo % 4 == 0)
        CHECK_EQ(filch_sleep_ns(1000000), 0);
    for (size_t i = lo; i < hi; i++)
        *(uint64_t *)state += i;
}

static void sets_sums(void *state, size_t lo, size_t hi, void *arg)
{
    adds(state, lo, hi, arg);
    sums[lo] = *(uint64_t *)state;
}

static void combines(void *state, const void *right, void *arg)
{
    (void)arg;
    *(uint64_t *)state += *(const uint64_t *)right;
}

static void scan_here(void)
{
    static const filch_scanner adding = {sizeof(uint64_t), 0, adds, sets_sums, combines};
    filch_how how = how_here();
    uint64_t total;
    how.grain = 1;
    filch_store_relaxed(&waits, 0u); /* order: nobody else is there yet */
    CHECK_EQ(filch_scan_with(&how, &adding, &total, 0, BLOCKS, 0), 0);
    CHECK_EQ(total, BLOCKS * (BLOCKS - 1) / 2);
    for (uint64_t i = 0; i < BLOCKS; i++)
        CHECK_EQ(sums[i], i * (i + 1) / 2);
    /* It is woken for its own prefix, and at most once by each of the late ones. */
    CHECK_MSG(waits <= 2 * BLOCKS, "%u waits for %d blocks", waits, BLOCKS);
}

static void a_wait_is_not_a_loop(void)
{
    for (int workers = 2; workers <= 4; workers++) {
        place_open(workers, FILCH_JOIN_SUSPEND);
        place_call(ON_A_THREAD, scan_here);
        place_call(IN_A_JOB, scan_here);
        place_close();
    }
}

int main(void)
{
    kit_watchdog();
    RUN(a_wait_is_not_a_loop);
    return check_report();
}
