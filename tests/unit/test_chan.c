/* test_chan.c: channels between tasks, pinned tasks and threads. */
#include "chan_kit.h"
#include "fiber/chan.h"

static const size_t capacities[] = {0, 1, 2, 7, 128, FILCH_UNBOUNDED};
enum { CAPACITIES = sizeof capacities / sizeof *capacities };

/* ---- one flow --------------------------------------------------------------------------------- */

static void items_come_out_in_the_order_they_went_in(void)
{
    for (int k = 2; k < CAPACITIES; k++) {
        filch_chan *c = chan(sizeof(int), capacities[k]);
        int in = 0, out = 0, got;
        for (int round = 0; round < 300; round++) {
            for (int i = 0; i < round % 7 && filch_chan_send(c, &in, FILCH_NOW) == 0; i++)
                in++;
            for (int i = 0; i < round % 5 && filch_chan_recv(c, &got, FILCH_NOW) == 0; i++)
                CHECK_EQ(got, out++);
            CHECK_EQ(filch_chan_length(c), (size_t)(in - out));
        }
        while (filch_chan_recv(c, &got, FILCH_NOW) == 0)
            CHECK_EQ(got, out++);
        CHECK_EQ(in, out);
        CHECK_EQ(filch_chan_capacity(c), capacities[k]);
        filch_chan_destroy(c);
    }
}

static void items_of_any_size_arrive_whole(void)
{
    static const size_t sizes[] = {0, 1, 3, 4, 8, 16, 17, 64, 1000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        unsigned char in[1001], out[1001];
        filch_chan *c = chan(sizes[k], 5);
        for (int i = 0; i < 23; i++) {
            memset(in, i + 1, sizeof in);
            memset(out, 0, sizeof out);
            CHECK_EQ(filch_chan_send(c, sizes[k] ? in : NULL, FILCH_NOW), 0);
            CHECK_EQ(filch_chan_recv(c, sizes[k] ? out : NULL, FILCH_NOW), 0);
            CHECK_EQ(memcmp(in, out, sizes[k]), 0);
            CHECK_EQ(out[sizes[k]], 0);
        }
        filch_chan_destroy(c);
    }
}

static void a_full_channel_refuses_and_an_empty_one_has_nothing(void)
{
    int i = 1;
    filch_chan *c = chan(sizeof i, 2), *none = chan(sizeof i, 0);
    CHECK_EQ(filch_chan_recv(c, &i, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_chan_recv(c, &i, soon(500)), -ETIMEDOUT);
    CHECK_EQ(filch_chan_send(c, &i, FILCH_NOW), 0);
    CHECK_EQ(filch_chan_send(c, &i, FILCH_FOREVER), 0);
    CHECK_EQ(filch_chan_send(c, &i, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_chan_send(c, &i, soon(500)), -ETIMEDOUT);
    CHECK_EQ(filch_chan_length(c), 2);
    CHECK_EQ(filch_chan_send(none, &i, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_chan_send(none, &i, soon(500)), -ETIMEDOUT);
    CHECK_EQ(filch_chan_recv(none, &i, soon(500)), -ETIMEDOUT);
    filch_chan_destroy(c);
    filch_chan_destroy(none);
}

static void a_closed_channel_gives_what_it_keeps_and_takes_nothing(void)
{
    for (int k = 2; k < CAPACITIES; k++) {
        int i = 1, got = 0;
        filch_chan *c = chan(sizeof i, capacities[k]);
        CHECK_EQ(filch_chan_send(c, &i, FILCH_NOW), 0);
        i = 2;
        CHECK_EQ(filch_chan_send(c, &i, FILCH_NOW), 0);
        filch_chan_close(c);
        filch_chan_close(c);
        CHECK_EQ(filch_chan_send(c, &i, FILCH_FOREVER), -EPIPE);
        CHECK_EQ(filch_chan_recv(c, &got, FILCH_FOREVER), 0);
        CHECK_EQ(got, 1);
        CHECK_EQ(filch_chan_recv(c, &got, FILCH_NOW), 0);
        CHECK_EQ(got, 2);
        CHECK_EQ(filch_chan_recv(c, &got, FILCH_FOREVER), -EPIPE);
        filch_chan_destroy(c);
    }
}

static void a_channel_has_a_name(void)
{
    filch_chan *c = chan(1, 0);
    CHECK(!filch_chan_name(c));
    filch_chan_rename(c, "orders");
    CHECK_STR(filch_chan_name(c), "orders");
    filch_chan_destroy(c);
}

/* ---- many to many ----------------------------------------------------------------------------- */

enum { SENDERS = 4, RECEIVERS = 3, EACH_MOST = 4000 };

/* Items are sender * EACH_MOST + number; each is ticked off. */
struct market {
    filch_chan *c;
    int each;
    uint32_t seen[SENDERS * 2 * EACH_MOST];
    uint32_t sent, received, senders_left;
};

struct trader {
    struct market *m;
    int number;
    int64_t patience_us; /* < 0: for ever */
};

static int64_t patience(const struct trader *t)
{
    return t->patience_us < 0 ? FILCH_FOREVER : t->patience_us == 0 ? FILCH_NOW : soon(t->patience_us);
}

static int sells(void *arg)
{
    struct trader *t = arg;
    struct market *m = t->m;
    for (int i = 0; i < m->each;) {
        int64_t item = (int64_t)t->number * EACH_MOST + i;
        int rc = filch_chan_send(m->c, &item, patience(t));
        CHECK(rc == 0 || (rc == -ETIMEDOUT && t->patience_us >= 0));
        if (rc == 0) {
            kit_count(&m->sent);
            i++;
        } else if (t->patience_us == 0) {
            filch_sleep_ns(1000); /* not filch_yield: pollers would keep every worker */
        }
    }
    kit_beat();
    if (filch_sub_acq_rel(&m->senders_left, 1u) == 1)
        filch_chan_close(m->c);
    return 0;
}

/* What one sender sent arrives in order: at each receiver the numbers of a sender only grow. */
static int buys(void *arg)
{
    struct trader *t = arg;
    struct market *m = t->m;
    int64_t last[2 * SENDERS], item;
    memset(last, -1, sizeof last);
    for (;;) {
        int rc = filch_chan_recv(m->c, &item, patience(t));
        if (rc == -EPIPE)
            return 0;
        CHECK(rc == 0 || (rc == -ETIMEDOUT && t->patience_us >= 0));
        if (rc == 0) {
            int64_t from = item / EACH_MOST, number = item % EACH_MOST;
            CHECK(last[from] < number);
            last[from] = number;
            CHECK_EQ(kit_count(&m->seen[item]), 1);
            kit_count(&m->received);
        } else if (t->patience_us == 0) {
            filch_sleep_ns(1000); /* not filch_yield: pollers would keep every worker */
        }
    }
}

static int sells_pinned(void *arg)
{
    filch_pin();
    int rc = sells(arg);
    filch_unpin();
    return rc;
}

static void *sells_outside(void *arg)
{
    sells(arg);
    return NULL;
}

static void *buys_outside(void *arg)
{
    buys(arg);
    return NULL;
}

static void trade(int workers, size_t capacity, int each, int64_t patience_us)
{
    struct market *m = calloc(1, sizeof *m);
    struct trader seller[SENDERS + 1], buyer[RECEIVERS + 1];
    filch_task *s[SENDERS], *b[RECEIVERS];
    pthread_t threads[2];
    filch_pool *pool = kit_pool(workers);
    CHECK(m);
    m->c = chan(sizeof(int64_t), capacity);
    m->each = each;
    m->senders_left = SENDERS + 1;
    for (int i = 0; i <= SENDERS; i++)
        seller[i] = (struct trader){m, i, i % 2 ? patience_us : -1};
    for (int i = 0; i <= RECEIVERS; i++)
        buyer[i] = (struct trader){m, i, i % 2 ? patience_us : -1};
    for (int i = 0; i < RECEIVERS; i++)
        b[i] = spawn(pool, buys, &buyer[i]);
    for (int i = 0; i < SENDERS; i++)
        s[i] = spawn(pool, i == 1 && workers > 1 ? sells_pinned : sells, &seller[i]);
    CHECK_EQ(pthread_create(&threads[0], NULL, sells_outside, &seller[SENDERS]), 0);
    CHECK_EQ(pthread_create(&threads[1], NULL, buys_outside, &buyer[RECEIVERS]), 0);
    for (int i = 0; i < SENDERS; i++)
        CHECK_EQ(join(s[i]), 0);
    for (int i = 0; i < RECEIVERS; i++)
        CHECK_EQ(join(b[i]), 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(m->sent, (SENDERS + 1) * each);
    CHECK_EQ(m->received, m->sent);
    for (int i = 0; i <= SENDERS; i++)
        for (int k = 0; k < each; k++)
            CHECK_EQ(m->seen[i * EACH_MOST + k], 1);
    filch_chan_destroy(m->c);
    kit_destroy(pool);
    free(m);
}

static void each_item_is_received_once(void)
{
    for (int workers = 1; workers <= 4; workers++)
        for (int k = 0; k < CAPACITIES; k++)
            trade(workers, capacities[k], (int)kit_scaled(2000, 10), -1);
}

static void each_item_is_received_once_while_waits_time_out(void)
{
    static const int64_t patiences[] = {0, 1, 30};
    for (int workers = 1; workers <= 3; workers++)
        for (int k = 0; k < CAPACITIES; k++)
            trade(workers, capacities[k], (int)kit_scaled(500, 5), patiences[(workers + k) % 3]);
}

/* ---- tasks that all wait ---------------------------------------------------------------------- */

struct link {
    filch_chan *from, *to;
};

static int passes_on(void *arg)
{
    struct link *l = arg;
    int token;
    for (int lap = 0; lap < 2; lap++) {
        CHECK_EQ(filch_chan_recv(l->from, &token, FILCH_FOREVER), 0);
        token++;
        CHECK_EQ(filch_chan_send(l->to, &token, FILCH_FOREVER), 0);
    }
    return 0;
}

static void a_ring_of_tasks_passes_a_token_on_one_worker(void)
{
    size_t n = KIT_SLOW ? 500 : 10000;
    struct link *links = calloc(n, sizeof *links);
    filch_task **t = calloc(n, sizeof *t);
    filch_pool *pool = kit_pool(1);
    CHECK(links && t);
    filch_chan *first = chan(sizeof(int), 0), *c = first;
    for (size_t i = 0; i < n; i++) {
        filch_chan *next = chan(sizeof(int), 0);
        links[i] = (struct link){c, next};
        t[i] = spawn(pool, passes_on, &links[i]);
        c = next;
    }
    int token = 0;
    for (int lap = 0; lap < 2; lap++) {
        CHECK_EQ(filch_chan_send(first, &token, FILCH_FOREVER), 0);
        CHECK_EQ(filch_chan_recv(c, &token, FILCH_FOREVER), 0);
        CHECK_EQ(token, (int)n * (lap + 1));
    }
    for (size_t i = 0; i < n; i++) {
        CHECK_EQ(join(t[i]), 0);
        filch_chan_destroy(links[i].from);
    }
    filch_chan_destroy(c);
    kit_destroy(pool);
    free(links);
    free(t);
}

static void sends_seven(void *c)
{
    int seven = 7;
    CHECK_EQ(filch_chan_send(c, &seven, FILCH_FOREVER), 0);
}

static int needs_what_it_forked(void *c)
{
    int got = 0;
    filch_job job;
    filch_fork(&job, sends_seven, c);
    CHECK_EQ(filch_chan_recv(c, &got, FILCH_FOREVER), 0);
    filch_join(&job);
    return got;
}

static int needs_what_it_forked_pinned(void *c)
{
    filch_pin();
    int got = needs_what_it_forked(c);
    filch_unpin();
    return got;
}

static void a_job_forked_before_a_receive_that_needs_it_runs_on_one_worker(void)
{
    for (int k = 0; k < CAPACITIES; k++) {
        filch_chan *c = chan(sizeof(int), capacities[k]);
        CHECK_EQ(run_on(1, needs_what_it_forked, c), 7);
        CHECK_EQ(run_on(1, needs_what_it_forked_pinned, c), 7);
        filch_chan_destroy(c);
    }
}

/* Whoever it wakes must not stay in the queue of its worker, whose thread sleeps. */
static int asks_pinned(void *arg)
{
    struct link *l = arg;
    int token = 0;
    filch_pin();
    for (int i = 0; i < 100; i++) {
        KIT_AWAIT(idle_figures(filch_pool_current()).sleeping == 1); /* the other worker */
        CHECK_EQ(filch_chan_send(l->from, &token, FILCH_FOREVER), 0);
        CHECK_EQ(filch_chan_recv(l->to, &token, FILCH_FOREVER), 0);
        kit_beat();
    }
    filch_unpin();
    return token;
}

static int answers(void *arg)
{
    struct link *l = arg;
    int token = 0;
    while (filch_chan_recv(l->from, &token, FILCH_FOREVER) == 0) {
        token++;
        CHECK_EQ(filch_chan_send(l->to, &token, FILCH_FOREVER), 0);
    }
    return token;
}

static void a_pinned_task_that_waits_does_not_keep_whom_it_woke(void)
{
    struct link l = {chan(sizeof(int), 0), chan(sizeof(int), 0)};
    filch_pool *pool = kit_pool(2);
    filch_task *other = spawn(pool, answers, &l), *t;
    kit_await_parked(pool);
    t = spawn(pool, asks_pinned, &l);
    KIT_AWAIT(filch_task_done(t));
    CHECK_EQ(join(t), 100);
    filch_chan_close(l.from);
    CHECK_EQ(join(other), 100);
    kit_destroy(pool);
    filch_chan_destroy(l.from);
    filch_chan_destroy(l.to);
}

/* ---- a budget --------------------------------------------------------------------------------- */

struct hog {
    filch_chan *c;
    uint32_t stop;
};

static int talks_to_itself(void *arg)
{
    struct hog *h = arg;
    int i = 0;
    while (!kit_raised(&h->stop)) {
        CHECK_EQ(filch_chan_send(h->c, &i, FILCH_FOREVER), 0);
        CHECK_EQ(filch_chan_recv(h->c, &i, FILCH_FOREVER), 0);
    }
    return 0;
}

static int polls(void *arg)
{
    struct hog *h = arg;
    int i;
    while (!kit_raised(&h->stop))
        CHECK_EQ(filch_chan_recv(h->c, &i, FILCH_NOW), -ETIMEDOUT);
    return 0;
}

static int stops_it(void *arg)
{
    kit_raise(&((struct hog *)arg)->stop);
    return 0;
}

static void a_task_whose_channel_is_always_ready_lets_others_run(void)
{
    int (*const busy[])(void *) = {talks_to_itself, polls};
    for (int k = 0; k < 2; k++) {
        struct hog h = {.c = chan(sizeof(int), 1)};
        filch_pool *pool = kit_pool(1);
        filch_task *t = spawn(pool, busy[k], &h), *other = spawn(pool, stops_it, &h);
        KIT_AWAIT(filch_task_done(t));
        CHECK_EQ(join(t), 0);
        CHECK_EQ(join(other), 0);
        kit_destroy(pool);
        filch_chan_destroy(h.c);
    }
}

/* ---- close ------------------------------------------------------------------------------------ */

struct closing {
    filch_chan *c;
    uint32_t sent, received;
};

static int sends_until_closed(void *arg)
{
    struct closing *k = arg;
    int i = 0, rc;
    while ((rc = filch_chan_send(k->c, &i, FILCH_FOREVER)) == 0)
        kit_count(&k->sent);
    CHECK_EQ(rc, -EPIPE);
    return 0;
}

static int receives_until_closed(void *arg)
{
    struct closing *k = arg;
    int i, rc;
    while ((rc = filch_chan_recv(k->c, &i, FILCH_FOREVER)) == 0)
        kit_count(&k->received);
    CHECK_EQ(rc, -EPIPE);
    return 0;
}

static void what_was_sent_before_a_close_is_received(void)
{
    for (int round = 0; round < (int)kit_scaled(60, 4); round++) {
        struct closing k = {.c = chan(sizeof(int), (const size_t[]){0, 1, 5}[round % 3])};
        filch_pool *pool = kit_pool(1 + round % 4);
        filch_task *t[8];
        for (int i = 0; i < 8; i++)
            t[i] = spawn(pool, i % 2 ? receives_until_closed : sends_until_closed, &k);
        KIT_AWAIT(kit_raised(&k.received) > 100);
        filch_chan_close(k.c);
        for (int i = 0; i < 8; i++)
            CHECK_EQ(join(t[i]), 0);
        CHECK_EQ(k.sent, k.received);
        CHECK_EQ(filch_chan_length(k.c), 0);
        filch_chan_destroy(k.c);
        kit_destroy(pool);
    }
}

static void a_close_ends_every_wait(void)
{
    enum { WAITERS = 50 };
    for (int sending = 0; sending < 2; sending++) {
        struct closing k = {.c = chan(sizeof(int), 0)};
        filch_pool *pool = kit_pool(2);
        filch_task *t[WAITERS];
        for (int i = 0; i < WAITERS; i++)
            t[i] = spawn(pool, sending ? sends_until_closed : receives_until_closed, &k);
        kit_await_parked(pool);
        filch_chan_close(k.c);
        for (int i = 0; i < WAITERS; i++)
            CHECK_EQ(join(t[i]), 0);
        CHECK_EQ(k.sent + k.received, 0);
        filch_chan_destroy(k.c);
        kit_destroy(pool);
    }
}

static int sends_once(void *c)
{
    int i = 1;
    return filch_chan_send(c, &i, FILCH_FOREVER);
}

static int closes(void *c)
{
    filch_chan_close(c);
    return 0;
}

static void who_received_the_last_item_may_destroy_the_channel(void)
{
    filch_pool *pool = kit_pool(2);
    for (size_t i = 0; i < kit_scaled(4000, 8); i++) {
        int got;
        filch_chan *c = chan(sizeof(int), i % 3);
        bool closed = i % 2;
        filch_task *t = spawn(pool, closed ? closes : sends_once, c);
        CHECK_EQ(filch_chan_recv(c, &got, FILCH_FOREVER), closed ? -EPIPE : 0);
        filch_chan_destroy(c);
        CHECK_EQ(join(t), 0);
    }
    kit_destroy(pool);
}

static int sends_second(void *c)
{
    int item = 2;
    return filch_chan_send(c, &item, FILCH_FOREVER);
}

/* Nobody receives any more: there is room, and that is enough. */
static void a_sender_that_waits_goes_on_when_an_item_is_taken(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        filch_chan *c = chan(sizeof(int), 1);
        filch_task_attr a = FILCH_TASK_ATTR_INIT;
        filch_task *t;
        int item = 1, result = -1;
        a.pool = pool;
        CHECK_EQ(filch_chan_send(c, &item, FILCH_NOW), 0);
        CHECK_EQ(filch_spawn_with(&t, &a, sends_second, c), 0);
        kit_await_parked(pool);
        CHECK(!filch_task_done(t));
        CHECK_EQ(filch_chan_recv(c, &item, FILCH_NOW), 0);
        CHECK_EQ(item, 1);
        CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
        CHECK_EQ(result, 0);
        CHECK_EQ(filch_chan_length(c), 1);
        CHECK_EQ(filch_chan_recv(c, &item, FILCH_NOW), 0);
        CHECK_EQ(item, 2);
        filch_chan_destroy(c);
        kit_destroy(pool);
    }
}

/* Whoever was slow for a while does not keep the memory for ever. */
static void an_unbounded_channel_that_was_emptied_is_small_again(void)
{
    enum { MANY = 100000 };
    filch_chan *c;
    int item;
    CHECK_EQ(filch_chan_create(&c, sizeof item, FILCH_UNBOUNDED), 0);
    size_t small = c->room;
    for (int round = 0; round < 3; round++) {
        for (item = 0; item < MANY; item++)
            CHECK_EQ(filch_chan_send(c, &item, FILCH_NOW), 0);
        CHECK(c->room >= MANY);
        for (int i = 0; i < MANY; i++) {
            CHECK_EQ(filch_chan_recv(c, &item, FILCH_NOW), 0);
            CHECK_EQ(item, i);
        }
        CHECK_EQ(c->room, small);
        CHECK_EQ(filch_chan_recv(c, &item, FILCH_NOW), -ETIMEDOUT);
    }
    for (int i = 0; i < 1000; i++) /* not worth it */
        CHECK_EQ(filch_chan_send(c, &i, FILCH_NOW), 0);
    size_t some = c->room;
    while (filch_chan_recv(c, &item, FILCH_NOW) == 0)
        ;
    CHECK_EQ(item, 999);
    CHECK_EQ(c->room, some);
    filch_chan_destroy(c);
}

/* ---- two that keep each other busy ------------------------------------------------------------- */

static struct {
    filch_chan *there, *back;
    uint32_t over; /* a task that slept, and came from outside, has run */
    int begun;
} game;

static int serves(void *unused)
{
    int ball = 0;
    (void)unused;
    while (!filch_load_acquire(&game.over)) {
        CHECK_EQ(filch_chan_send(game.there, &ball, FILCH_FOREVER), 0);
        CHECK_EQ(filch_chan_recv(game.back, &ball, FILCH_FOREVER), 0);
        filch_store_release(&game.begun, 1);
    }
    filch_chan_close(game.there);
    return 0;
}

static int returns(void *unused)
{
    int ball;
    (void)unused;
    while (filch_chan_recv(game.there, &ball, FILCH_FOREVER) == 0)
        CHECK_EQ(filch_chan_send(game.back, &ball, FILCH_FOREVER), 0);
    return 0;
}

static int ends_the_game(void *unused)
{
    (void)unused;
    CHECK_EQ(filch_sleep_ns(1000000), 0);
    filch_store_release(&game.over, 1u);
    return 0;
}

static void two_that_wake_each_other_let_others_run_on_one_worker(void)
{
    filch_pool *pool = kit_pool(1);
    game.there = chan(sizeof(int), 0);
    game.back = chan(sizeof(int), 0);
    filch_task *one = spawn(pool, serves, 0), *two = spawn(pool, returns, 0);
    while (!filch_load_acquire(&game.begun))
        kit_nap_us(100);
    filch_task *third = spawn(pool, ends_the_game, 0);
    while (!filch_task_done(third)) /* no guest, that would be another worker */
        kit_nap_us(100);
    CHECK_EQ(join(third) + join(one) + join(two), 0);
    filch_chan_destroy(game.there);
    filch_chan_destroy(game.back);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(items_come_out_in_the_order_they_went_in);
    RUN(items_of_any_size_arrive_whole);
    RUN(a_full_channel_refuses_and_an_empty_one_has_nothing);
    RUN(a_closed_channel_gives_what_it_keeps_and_takes_nothing);
    RUN(a_channel_has_a_name);
    RUN(each_item_is_received_once);
    RUN(each_item_is_received_once_while_waits_time_out);
    RUN(a_ring_of_tasks_passes_a_token_on_one_worker);
    RUN(a_job_forked_before_a_receive_that_needs_it_runs_on_one_worker);
    RUN(a_pinned_task_that_waits_does_not_keep_whom_it_woke);
    RUN(a_task_whose_channel_is_always_ready_lets_others_run);
    RUN(two_that_wake_each_other_let_others_run_on_one_worker);
    RUN(what_was_sent_before_a_close_is_received);
    RUN(a_close_ends_every_wait);
    RUN(who_received_the_last_item_may_destroy_the_channel);
    RUN(a_sender_that_waits_goes_on_when_an_item_is_taken);
    RUN(an_unbounded_channel_that_was_emptied_is_small_again);
    return check_report();
}
