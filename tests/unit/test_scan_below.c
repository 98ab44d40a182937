/* test_scan_below.c: a scan whose caller may not leave its thread. While one of its functions waits, the
 * thread runs what it forked: other strands of the same scan. What thieves take of those waits for the block
 * that is below on the same stack, so up there nobody may wait for a thief. The engine is compiled once more,
 * slowed down where a thief has to come. */
#include "../par_places.h"

#include "par/par.h"

static const struct fiber *waiting; /* the fiber whose function waits */

static bool slowly(const struct par *p)
{
    if (filch_load_acquire(&waiting) == run_fiber()) /* order: set by this fiber, if it is the one */
        kit_nap_us(2000);
    return par_stopped(p);
}

#define par_stopped slowly
#include "par/split.c"
#undef par_stopped

enum { BLOCKS = 30 };
static uint64_t sums[BLOCKS];

static void adds(void *state, size_t lo, size_t hi, void *arg)
{
    (void)arg;
    for (size_t i = lo; i < hi; i++)
        *(uint64_t *)state += i;
}

static void scans(void *state, size_t lo, size_t hi, void *arg)
{
    if (lo == 0) {
        filch_pin();
        filch_store_release(&waiting, (const struct fiber *)run_fiber()); /* order: as in slowly */
        CHECK_EQ(filch_sleep_ns(100000), 0);
        filch_store_release(&waiting, (const struct fiber *)0); /* order: as in slowly */
        filch_unpin();
    }
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
    static const filch_scanner adding = {sizeof(uint64_t), 0, adds, scans, combines};
    filch_how how = how_here();
    uint64_t total;
    how.grain = 1;
    CHECK_EQ(filch_scan_with(&how, &adding, &total, 0, BLOCKS, 0), 0);
    CHECK_EQ(total, BLOCKS * (BLOCKS - 1) / 2);
    for (uint64_t i = 0; i < BLOCKS; i++)
        CHECK_EQ(sums[i], i * (i + 1) / 2);
}

static void nobody_waits_above_a_block_for_one_that_waits_for_it(void)
{
    for (int round = 0; round < 3; round++)
        everywhere(scan_here);
}

int main(void)
{
    kit_watchdog();
    RUN(nobody_waits_above_a_block_for_one_that_waits_for_it);
    return check_report();
}
