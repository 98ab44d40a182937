/* Locks, conditions and channels that block a thread, and those that only keep a task waiting, side by side:
 * 64 flows that compute or wait for a "disk", as 64 threads and as 64 tasks on two workers. Then the
 * blocking lock in tasks, which is what to avoid: a blocked worker is one less. (Blocking conditions and
 * channels are not tried in tasks: once each worker waits for a task that has none, that is the end.) */
#define _GNU_SOURCE
#include <filch/chan.h>
#include <filch/ord.h>
#include <filch/sync.h>
#include <filch/task.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FLOWS = 64, ROUNDS = 20 };
#define COMPUTE_NS 5000
#define DISK_NS 200000

/* ---- two families of primitives ---------------------------------------------------------------------- */

struct pair { /* two flows that work with each other */
    filch_mutex mutex;
    filch_cond cond;
    filch_chan *chan;
    pthread_mutex_t thread_mutex;
    pthread_cond_t thread_cond;
    int turn, slot, full; /* slot: the channel of threads holds one item */
    long sum;
};

struct family {
    void (*lock)(struct pair *p), (*unlock)(struct pair *p), (*wait)(struct pair *p), (*tell)(struct pair *p);
    void (*send)(struct pair *p, int item);
    int (*receive)(struct pair *p);
    void (*disk)(void);
};

static void task_lock(struct pair *p) { filch_mutex_lock(&p->mutex, FILCH_FOREVER); }
static void task_unlock(struct pair *p) { filch_mutex_unlock(&p->mutex); }
static void task_wait(struct pair *p) { filch_cond_wait(&p->cond, &p->mutex, FILCH_FOREVER); }
static void task_tell(struct pair *p) { filch_cond_broadcast(&p->cond); }
static void task_send(struct pair *p, int item) { filch_chan_send(p->chan, &item, FILCH_FOREVER); }
static void task_disk(void) { filch_sleep_ns(DISK_NS); }

static int task_receive(struct pair *p)
{
    int item = -1;
    filch_chan_recv(p->chan, &item, FILCH_FOREVER);
    return item;
}

static void thread_lock(struct pair *p) { pthread_mutex_lock(&p->thread_mutex); }
static void thread_unlock(struct pair *p) { pthread_mutex_unlock(&p->thread_mutex); }
static void thread_wait(struct pair *p) { pthread_cond_wait(&p->thread_cond, &p->thread_mutex); }
static void thread_tell(struct pair *p) { pthread_cond_broadcast(&p->thread_cond); }
static void thread_disk(void) { nanosleep(&(struct timespec){0, DISK_NS}, NULL); }

static void thread_send(struct pair *p, int item)
{
    thread_lock(p);
    while (p->full)
        thread_wait(p);
    p->slot = item;
    p->full = 1;
    thread_tell(p);
    thread_unlock(p);
}

static int thread_receive(struct pair *p)
{
    thread_lock(p);
    while (!p->full)
        thread_wait(p);
    int item = p->slot;
    p->full = 0;
    thread_tell(p);
    thread_unlock(p);
    return item;
}

static const struct family tasks = {task_lock, task_unlock, task_wait, task_tell, task_send,
                                    task_receive, task_disk};
static const struct family threads = {thread_lock, thread_unlock, thread_wait, thread_tell, thread_send,
                                      thread_receive, thread_disk};

/* ---- what the flows do ------------------------------------------------------------------------------- */

struct flow {
    const struct family *with;
    struct pair *pair;
    int side, on_disk;
    void (*body)(struct flow *f);
};

static void work(struct flow *f)
{
    if (f->on_disk)
        f->with->disk();
    else
        for (int64_t end = filch_clock_ns() + COMPUTE_NS; filch_clock_ns() < end;)
            ;
}

static void add_up(struct flow *f)
{
    for (int i = 0; i < ROUNDS; i++) {
        work(f);
        f->with->lock(f->pair);
        f->pair->sum++;
        f->with->unlock(f->pair);
    }
}

static void take_turns(struct flow *f)
{
    for (int i = 0; i < ROUNDS; i++) {
        work(f);
        f->with->lock(f->pair);
        while (f->pair->turn != f->side)
            f->with->wait(f->pair);
        f->pair->sum++;
        f->pair->turn = !f->side;
        f->with->tell(f->pair);
        f->with->unlock(f->pair);
    }
}

static void pass_items(struct flow *f)
{
    for (int i = 0; i < ROUNDS; i++) {
        work(f);
        if (f->side == 0)
            f->with->send(f->pair, 2);
        else
            f->pair->sum += f->with->receive(f->pair);
    }
}

/* ---- who runs them ----------------------------------------------------------------------------------- */

static void task_main(void *arg)
{
    struct flow *f = arg;
    f->body(f);
}

static void *thread_main(void *arg)
{
    task_main(arg);
    return NULL;
}

static int run_as_threads(struct flow *flows)
{
    pthread_t t[FLOWS];
    int made = 0;
    while (made < FLOWS && pthread_create(&t[made], NULL, thread_main, &flows[made]) == 0)
        made++;
    for (int i = 0; i < made; i++)
        pthread_join(t[i], NULL);
    return made == FLOWS;
}

static int run_as_tasks(struct flow *flows)
{
    filch_config config = FILCH_CONFIG_INIT;
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    int made = 0;
    config.workers = 2;
    config.no_environment = 1;
    if (filch_pool_create(&attr.pool, &config) != 0)
        return 0;
    while (made < FLOWS && filch_go_with(&attr, task_main, &flows[made]) == 0)
        made++;
    filch_pool_destroy(attr.pool);
    return made == FLOWS;
}

/* Milliseconds; ends the program if anything was lost. */
static double measure(void (*body)(struct flow *), const struct family *with, int as_tasks, int on_disk)
{
    static struct pair pairs[FLOWS / 2];
    struct flow flows[FLOWS];
    long sum = 0;
    for (int i = 0; i < FLOWS / 2; i++) {
        pairs[i] = (struct pair){.thread_mutex = PTHREAD_MUTEX_INITIALIZER,
                                 .thread_cond = PTHREAD_COND_INITIALIZER};
        if (filch_chan_create(&pairs[i].chan, sizeof(int), 1) != 0)
            exit(1);
    }
    for (int i = 0; i < FLOWS; i++)
        flows[i] = (struct flow){with, &pairs[i / 2], i % 2, on_disk, body};
    int64_t begin = filch_clock_ns();
    int ran = as_tasks ? run_as_tasks(flows) : run_as_threads(flows);
    double ms = (double)(filch_clock_ns() - begin) / 1e6;
    for (int i = 0; i < FLOWS / 2; i++) {
        sum += pairs[i].sum;
        filch_chan_destroy(pairs[i].chan);
    }
    if (!ran || sum != FLOWS * ROUNDS) {
        fprintf(stderr, "%ld instead of %d\n", sum, FLOWS * ROUNDS);
        exit(1);
    }
    return ms;
}

int main(void)
{
    static const struct { const char *name; void (*body)(struct flow *); } rows[] = {
        {"mutex", add_up}, {"condition", take_turns}, {"channel", pass_items}};
    printf("%d flows, milliseconds        64 threads   64 tasks on 2 workers   the same, blocking\n", FLOWS);
    for (int on_disk = 0; on_disk < 2; on_disk++)
        for (int i = 0; i < 3; i++) {
            printf("%-10s %-18s %10.1f %23.1f", rows[i].name, on_disk ? "waits for a disk" : "computes",
                   measure(rows[i].body, &threads, 0, on_disk), measure(rows[i].body, &tasks, 1, on_disk));
            if (rows[i].body == add_up)
                printf(" %20.1f\n", measure(rows[i].body, &threads, 1, on_disk));
            else
                printf(" %20s\n", "would never end");
        }
    return 0;
}
