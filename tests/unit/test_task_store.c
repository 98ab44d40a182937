/* test_task_store.c: where the descriptors of tasks come from, and where they go (task.h). */
#include "check.h"
#include "core/task.h"

enum { MANY = 1500 };

static filch_task *taken[MANY];

static size_t boxes(const struct task_store *s)
{
    size_t n = 0;
    for (const struct task_box *b = s->boxes; b; b = b->older)
        n++;
    return n;
}

/* All there are, wherever they wait: each once. */
static size_t counted(struct task_store *s)
{
    size_t n = 0;
    for (filch_task *t = s->loose; t; t = (filch_task *)t->link, n++)
        t->result++;
    for (const struct task_box *b = s->boxes; b; b = b->older)
        for (unsigned i = 0; i < b->count; i++, n++)
            b->task[i]->result++;
    return n;
}

static void check_once(const filch_task *t, void *wrong)
{
    if (t->result != 1)
        ++*(int *)wrong;
}

static void take_all(struct task_store *s, struct task_cache *c)
{
    for (int i = 0; i < MANY; i++) {
        taken[i] = task_alloc(s, c);
        CHECK(taken[i] != NULL);
        taken[i]->result = 0;
    }
}

static void give_all(struct task_store *s, struct task_cache *c)
{
    for (int i = 0; i < MANY; i++)
        task_free(s, c, taken[i]);
}

/* One makes them and another frees them, over and over: boxes go round between the two. */
static void what_one_worker_frees_another_takes(void)
{
    struct task_store s = {0};
    struct task_cache maker = {0}, freer = {0};
    size_t settled = 0;
    for (int round = 0; round < 10; round++) {
        take_all(&s, &maker);
        give_all(&s, &freer);
        if (round == 4)
            settled = boxes(&s);
    }
    CHECK_EQ(boxes(&s), settled);
    CHECK(boxes(&s) <= MANY / TASK_BATCH + 5);
    size_t n = counted(&s);
    CHECK(n >= MANY && n <= MANY + 4 * TASK_BATCH);
    int wrong = 0;
    task_each(&s, check_once, &wrong);
    CHECK_EQ(wrong, 0);
    task_store_destroy(&s);
}

static void two_taken_and_given(struct task_store *s, struct task_cache *c)
{
    filch_task *one = task_alloc(s, c), *other = task_alloc(s, c);
    task_free(s, c, one);
    task_free(s, c, other);
}

/* At the border between two boxes the pool is not asked each time: after the first step both are here. */
static void a_box_is_not_swapped_at_each_step(void)
{
    struct task_store s = {0};
    struct task_cache c = {0};
    take_all(&s, &c);
    give_all(&s, &c);
    for (int held = 0; held < 2 * TASK_BATCH; held++) {
        CHECK(task_alloc(&s, &c) != NULL); /* kept: a step nearer to the border */
        two_taken_and_given(&s, &c);
        struct task_box *full = s.full, *empty = s.empty;
        for (int i = 0; i < 4; i++)
            two_taken_and_given(&s, &c);
        CHECK(s.full == full && s.empty == empty);
    }
    for (const struct task_box *b = s.full; b; b = b->next)
        CHECK_EQ(b->count, TASK_BATCH);
    task_store_destroy(&s);
}

static void threads_outside_need_no_box(void)
{
    struct task_store s = {0};
    take_all(&s, NULL);
    give_all(&s, NULL);
    CHECK_EQ(boxes(&s), 0);
    CHECK_EQ(counted(&s), MANY);
    struct task_cache c = {0};
    filch_task *t = task_alloc(&s, &c); /* from what they gave back */
    CHECK(t && t->result == 1);
    task_store_destroy(&s);
}

static void in_the_child_of_fork_all_are_free(void)
{
    struct task_store s = {0};
    struct task_cache c = {0};
    take_all(&s, &c);
    give_all(&s, &c);
    take_all(&s, &c);
    size_t before = boxes(&s);
    task_store_reset(&s);
    c = (struct task_cache){0};
    CHECK_EQ(counted(&s), 0);
    take_all(&s, &c);
    give_all(&s, &c);
    CHECK_EQ(boxes(&s), before);
    CHECK(counted(&s) >= MANY);
    int wrong = 0;
    task_each(&s, check_once, &wrong);
    CHECK_EQ(wrong, 0);
    task_store_destroy(&s);
}

int main(void)
{
    RUN(what_one_worker_frees_another_takes);
    RUN(a_box_is_not_swapped_at_each_step);
    RUN(threads_outside_need_no_box);
    RUN(in_the_child_of_fork_all_are_free);
    return check_report();
}
