/* test_select.c: select and oneshots between tasks and threads. */
#include "chan_kit.h"
#include "fiber/chan.h"

/* ---- select ----------------------------------------------------------------------------------- */

static struct filch_case receive(filch_chan *c, void *item)
{
    return (struct filch_case){.chan = c, .op = FILCH_RECV, .item = item};
}

static struct filch_case sending(filch_chan *c, void *item)
{
    return (struct filch_case){.chan = c, .op = FILCH_SEND, .item = item};
}

static void a_select_does_what_can_be_done(void)
{
    int i = 5, got = 0;
    filch_chan *full = chan(sizeof i, 1), *empty = chan(sizeof i, 1), *closed = chan(sizeof i, 1);
    filch_chan_close(closed);
    CHECK_EQ(filch_chan_send(full, &i, FILCH_NOW), 0);
    struct filch_case none[] = {receive(empty, &got), sending(full, &i), receive(NULL, NULL)};
    CHECK_EQ(filch_select(none, 3, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_select(none, 3, soon(500)), -ETIMEDOUT);
    CHECK_EQ(filch_select(none, 0, soon(500)), -ETIMEDOUT);
    CHECK_EQ(filch_select(none, 65, FILCH_NOW), -EINVAL);
    struct filch_case one[] = {receive(empty, &got), receive(full, &got)};
    CHECK_EQ(filch_select(one, 2, FILCH_FOREVER), 1);
    CHECK_EQ(one[1].result, 0);
    CHECK_EQ(got, 5);
    struct filch_case shut[] = {receive(empty, &got), sending(closed, &i)};
    CHECK_EQ(filch_select(shut, 2, FILCH_FOREVER), 1);
    CHECK_EQ(shut[1].result, -EPIPE);
    struct filch_case both[] = {receive(full, &got), sending(full, &i)};
    CHECK_EQ(filch_select(both, 2, FILCH_FOREVER), 1);
    CHECK_EQ(filch_select(both, 2, FILCH_FOREVER), 0);
    filch_chan_destroy(full);
    filch_chan_destroy(empty);
    filch_chan_destroy(closed);
}

static void no_ready_case_of_a_select_starves(void)
{
    enum { N = 5, ROUNDS = 2000 };
    filch_chan *c[N];
    struct filch_case cases[N];
    int i = 0, counts[N] = {0};
    for (int k = 0; k < N; k++) {
        c[k] = chan(sizeof i, 1);
        cases[k] = receive(c[k], &i);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < N; k++)
            (void)filch_chan_send(c[k], &i, FILCH_NOW);
        counts[filch_select(cases, N, FILCH_FOREVER)]++;
    }
    for (int k = 0; k < N; k++) {
        CHECK(counts[k] > ROUNDS / N / 2);
        filch_chan_destroy(c[k]);
    }
}

/* Two neighbours among eight, from a thread outside or on a worker: a sweep from a random one on would take
 * one of them 7 times of 8. */
static void takes_from_neighbours(int *counts)
{
    enum { N = 8, ROUNDS = 20000 };
    filch_chan *c[N];
    struct filch_case cases[N];
    int i = 0;
    for (int k = 0; k < N; k++) {
        c[k] = chan(sizeof i, 1);
        cases[k] = receive(c[k], &i);
    }
    for (int round = 0; round < ROUNDS; round++) {
        (void)filch_chan_send(c[3], &i, FILCH_NOW);
        (void)filch_chan_send(c[4], &i, FILCH_NOW);
        counts[filch_select(cases, N, FILCH_FOREVER) == 4]++;
    }
    for (int k = 0; k < N; k++)
        filch_chan_destroy(c[k]);
    CHECK_EQ(counts[0] + counts[1], ROUNDS);
    CHECK(counts[0] > ROUNDS / 5 * 2 && counts[1] > ROUNDS / 5 * 2);
}

static int takes_on_a_worker(void *counts)
{
    takes_from_neighbours(counts);
    return 0;
}

static void neighbours_that_are_ready_are_taken_equally_often(void)
{
    int outside[2] = {0}, inside[2] = {0};
    takes_from_neighbours(outside);
    (void)run_on(1, takes_on_a_worker, inside);
}

/* Two cases of a select that waits stand in the list of one channel. */
enum { SAME = 1000 };

static int offers_both(void *c)
{
    int first = 0, second = 1;
    for (int i = 0; i < SAME; i++) {
        struct filch_case k[] = {sending(c, &first), sending(c, &second)};
        CHECK(filch_select(k, 2, FILCH_FOREVER) >= 0);
    }
    return 0;
}

static bool sender_waits(filch_chan *c)
{
    lock_acquire(&c->lock);
    bool waits = c->waiting[FILCH_SEND].head;
    lock_release(&c->lock);
    return waits;
}

static void cases_that_wait_at_one_channel_are_served_equally_often(void)
{
    filch_chan *c = chan(sizeof(int), 0);
    int counts[2] = {0}, got;
    filch_pool *pool = kit_pool(1);
    filch_task *t = spawn(pool, offers_both, c);
    for (int i = 0; i < SAME; i++) {
        KIT_AWAIT(sender_waits(c));
        CHECK_EQ(filch_chan_recv(c, &got, FILCH_FOREVER), 0);
        counts[got]++;
    }
    (void)join(t);
    kit_destroy(pool);
    CHECK(counts[0] > SAME / 3 && counts[1] > SAME / 3);
    filch_chan_destroy(c);
}

enum { ROADS = 4 };
struct crossing {
    filch_chan *road[ROADS];
    uint32_t sent, received, left;
    int each;
};

/* Sends on whatever road is free. */
static int drives(void *arg)
{
    struct crossing *x = arg;
    struct filch_case cases[ROADS];
    int item = 1;
    for (int i = 0; i < ROADS; i++)
        cases[i] = sending(x->road[i], &item);
    for (int i = 0; i < x->each;) {
        int k = filch_select(cases, ROADS, i % 3 ? FILCH_FOREVER : soon(20));
        CHECK(k >= 0 || k == -ETIMEDOUT);
        if (k >= 0) {
            CHECK_EQ(cases[k].result, 0);
            filch_add_acq_rel(&x->sent, 1u);
            i++;
        }
    }
    if (filch_sub_acq_rel(&x->left, 1u) == 1)
        for (int i = 0; i < ROADS; i++)
            filch_chan_close(x->road[i]);
    return 0;
}

static int watches(void *arg)
{
    struct crossing *x = arg;
    struct filch_case cases[ROADS];
    int item, open = ROADS;
    for (int i = 0; i < ROADS; i++)
        cases[i] = receive(x->road[i], &item);
    while (open > 0) {
        int k = filch_select(cases, ROADS, FILCH_FOREVER);
        CHECK(k >= 0);
        if (cases[k].result == 0) {
            CHECK_EQ(item, 1);
            kit_count(&x->received);
        } else {
            CHECK_EQ(cases[k].result, -EPIPE);
            cases[k].chan = NULL;
            open--;
        }
    }
    return 0;
}

static void *watches_outside(void *arg)
{
    watches(arg);
    return NULL;
}

static void selects_that_meet_pass_each_item_once(void)
{
    for (int workers = 1; workers <= 4; workers++)
        for (size_t capacity = 0; capacity < 3; capacity++) {
            struct crossing x = {.left = 4, .each = (int)kit_scaled(1500, 10)};
            filch_pool *pool = kit_pool(workers);
            filch_task *t[7];
            pthread_t outside;
            for (int i = 0; i < ROADS; i++)
                x.road[i] = chan(sizeof(int), capacity);
            for (int i = 0; i < 7; i++)
                t[i] = spawn(pool, i < 4 ? drives : watches, &x);
            CHECK_EQ(pthread_create(&outside, NULL, watches_outside, &x), 0);
            for (int i = 0; i < 7; i++)
                CHECK_EQ(join(t[i]), 0);
            CHECK_EQ(pthread_join(outside, NULL), 0);
            CHECK_EQ(x.sent, 4 * x.each);
            CHECK_EQ(x.received, x.sent);
            for (int i = 0; i < ROADS; i++)
                filch_chan_destroy(x.road[i]);
            kit_destroy(pool);
        }
}

/* ---- oneshot ---------------------------------------------------------------------------------- */

static int oneshot_sends(void *o)
{
    return filch_oneshot_send(o, o);
}

static int oneshot_closes(void *o)
{
    filch_oneshot_close(o);
    return 0;
}

static int oneshot_receives(void *o)
{
    void *value = NULL;
    int rc = filch_oneshot_recv(o, &value, FILCH_FOREVER);
    CHECK(rc != 0 || value == o);
    return rc;
}

static void a_oneshot_gives_its_value_once(void)
{
    filch_oneshot o = {0};
    void *value = NULL;
    CHECK_EQ(filch_oneshot_recv(&o, &value, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_oneshot_recv(&o, &value, soon(500)), -ETIMEDOUT);
    CHECK_EQ(filch_oneshot_send(&o, &o), 0);
    filch_oneshot_close(&o);
    CHECK_EQ(filch_oneshot_recv(&o, &value, FILCH_NOW), 0);
    CHECK(value == &o);
    CHECK_EQ(filch_oneshot_recv(&o, &value, FILCH_FOREVER), -EPIPE);
}

static void a_closed_oneshot_says_so_on_both_sides(void)
{
    filch_oneshot o = {0};
    void *value;
    filch_oneshot_close(&o);
    filch_oneshot_close(&o);
    CHECK_EQ(filch_oneshot_send(&o, &o), -EPIPE);
    CHECK_EQ(filch_oneshot_recv(&o, &value, FILCH_FOREVER), -EPIPE);
}

static void a_oneshot_may_be_freed_by_its_receiver(void)
{
    filch_pool *pool = kit_pool(2);
    for (size_t i = 0; i < kit_scaled(4000, 8); i++) {
        filch_oneshot *o = calloc(1, sizeof *o);
        void *value = NULL;
        int rc, expect = i % 2 ? -EPIPE : 0;
        CHECK(o);
        filch_task *t = spawn(pool, i % 2 ? oneshot_closes : oneshot_sends, o);
        while ((rc = filch_oneshot_recv(o, &value, i % 3 ? FILCH_FOREVER : soon(5))) == -ETIMEDOUT)
            kit_beat();
        CHECK_EQ(rc, expect);
        CHECK(rc != 0 || value == o);
        free(o);
        CHECK_EQ(join(t), 0);
    }
    kit_destroy(pool);
}

static void tasks_wait_for_oneshots(void)
{
    enum { N = 200 };
    filch_oneshot o[N] = {{0}};
    filch_task *t[2 * N];
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        memset(o, 0, sizeof o);
        for (int i = 0; i < N; i++)
            t[i] = spawn(pool, oneshot_receives, &o[i]);
        for (int i = 0; i < N; i++)
            t[N + i] = spawn(pool, i % 2 ? oneshot_closes : oneshot_sends, &o[i]);
        for (int i = 0; i < N; i++)
            CHECK_EQ(join(t[i]), i % 2 ? -EPIPE : 0);
        for (int i = N; i < 2 * N; i++)
            CHECK_EQ(join(t[i]), 0);
        kit_destroy(pool);
    }
}

int main(void)
{
    kit_watchdog();
    RUN(a_select_does_what_can_be_done);
    RUN(no_ready_case_of_a_select_starves);
    RUN(neighbours_that_are_ready_are_taken_equally_often);
    RUN(cases_that_wait_at_one_channel_are_served_equally_often);
    RUN(selects_that_meet_pass_each_item_once);
    RUN(a_oneshot_gives_its_value_once);
    RUN(a_closed_oneshot_says_so_on_both_sides);
    RUN(a_oneshot_may_be_freed_by_its_receiver);
    RUN(tasks_wait_for_oneshots);
    return check_report();
}
