/* inject.c: models of the list that anyone pushes to and takes from (core/inject.h). */
#include "jobs.h"

#include "core/inject.h"

static struct inject list;

static void take(size_t max)
{
    work_item out[4];
    size_t n = inject_take(&list, out, max);
    mc_check(n <= max);
    for (size_t i = 0; i < n; i++)
        job_run(out[i]);
}

/* Nobody else is about: what is left, and the count says how much that is. */
static void take_rest(void)
{
    mc_join_all();
    while (inject_count(&list) > 0) {
        size_t n = inject_count(&list);
        take(1);
        mc_check(inject_count(&list) == n - 1);
    }
    mc_check(list.head == 0 && list.tail == 0 && list.lock == LOCK_FREE);
}

static void push_chain(unsigned from, unsigned n)
{
    work_item first = job_item(from), last = first;
    for (unsigned i = 1; i < n; i++) {
        work_item next = job_item(from + i);
        *item_link(last) = next;
        last = next;
    }
    *item_link(last) = item_job(&jobs[7]); /* whatever it was in its life before */
    inject_push_chain(&list, first, last, n);
}

static void pushes_one(void *unused)
{
    (void)unused;
    inject_push(&list, job_item(0));
}

static void takes_two(void *unused)
{
    (void)unused;
    take(2);
}

static void inject_pushers_lose_nothing(void)
{
    mc_thread(pushes_one, 0);
    push_chain(1, 3);
    mc_join_all();
    mc_check(inject_count(&list) == 4);
    work_item out[4] = {0};
    mc_check(inject_take(&list, out, 4) == 4);
    unsigned at = job_task(out[0]) == 0; /* where the chain begins: it stays together */
    mc_check(job_task(out[at]) == 1 && job_task(out[at + 1]) == 2 && job_task(out[at + 2]) == 3);
    for (unsigned i = 0; i < 4; i++)
        job_run(out[i]);
    take_rest();
}
MC_MODEL(inject_pushers_lose_nothing, .claim = "a chain and a job pushed at once are both there, in order",
         .preemptions = 4);

static void inject_push_against_take(void)
{
    mc_thread(takes_two, 0);
    push_chain(1, 2);
    inject_push(&list, job_item(3));
    take_rest();
}
MC_MODEL(inject_push_against_take, .claim = "a taker gets whole jobs, and what it leaves stays in the list",
         .preemptions = 4);

static void inject_emptied_and_filled_again(void)
{
    push_chain(1, 2);
    mc_thread(pushes_one, 0);
    take(3); /* often all: the list begins anew */
    inject_push(&list, job_item(3));
    take(3);
    take_rest();
}
MC_MODEL(inject_emptied_and_filled_again, .claim = "a list that was emptied forgets its end",
         .preemptions = 4);

static void inject_two_takers_share(void)
{
    push_chain(1, 3);
    mc_thread(takes_two, 0);
    mc_thread(takes_two, 0);
    inject_push(&list, job_item(4));
    take_rest();
}
MC_MODEL(inject_two_takers_share, .claim = "two takers and a pusher: each job is taken once",
         .preemptions = 2);

static void counts(void *unused)
{
    (void)unused;
    mc_check(inject_count(&list) <= 3);
}

static void inject_count_is_never_negative(void)
{
    mc_thread(counts, 0);
    push_chain(1, 2);
    take(1);
    inject_push(&list, job_item(3));
    take(2);
    take_rest();
}
MC_MODEL(inject_count_is_never_negative, .claim = "the count that a bystander reads is one that could be",
         .preemptions = MC_UNBOUNDED);

/* ---- crates --------------------------------------------------------------------------------- */

static void push_many(unsigned from, unsigned n)
{
    work_item items[4];
    for (unsigned i = 0; i < n; i++)
        items[i] = job_item(from + i);
    inject_push_many(&list, items, n);
}

/* What is taken stands in the order in which it came, whether there was memory for the crate or not. */
static void inject_crate_keeps_the_order(void)
{
    work_item out[4] = {0};
    mc_fails(MC_ALLOC);
    push_many(0, 1);
    push_many(1, 3);
    inject_push(&list, job_item(4));
    mc_check(inject_take(&list, out, 3) == 3 && inject_count(&list) == 2);
    for (unsigned i = 0; i < 3; i++) {
        mc_check(job_task(out[i]) == i);
        job_run(out[i]);
    }
    push_many(5, 2);
    mc_check(inject_take(&list, out, 4) == 4);
    for (unsigned i = 0; i < 4; i++) {
        mc_check(job_task(out[i]) == 3 + i);
        job_run(out[i]);
    }
    take_rest();
}
MC_MODEL(inject_crate_keeps_the_order,
         .claim = "a crate is taken in parts, in order, with or without memory for it",
         .preemptions = MC_UNBOUNDED, .failing = 2);

static void inject_crate_is_shared(void)
{
    push_many(1, 3);
    mc_thread(takes_two, 0);
    mc_thread(takes_two, 0);
    inject_push(&list, job_item(4));
    take_rest();
}
MC_MODEL(inject_crate_is_shared,
         .claim = "two takers share a crate: each job is taken once, and it is freed once",
         .preemptions = 2);

static void pushes_crate(void *unused)
{
    (void)unused;
    push_many(1, 2);
}

static void inject_crates_pushed_and_taken(void)
{
    mc_fails(MC_ALLOC);
    mc_thread(pushes_crate, 0);
    push_many(3, 2);
    take(3);
    take_rest();
}
MC_MODEL(inject_crates_pushed_and_taken,
         .claim = "two crates pushed at once are both there, whoever takes meanwhile",
         .preemptions = 3, .failing = 1);
