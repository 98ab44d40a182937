/* Task lists. A list is taken or refused as a whole. One that is taken names only tasks of its own, and all
 * of them can run: there is an order in which each comes behind what it waits for. A message is one
 * printable line that begins with the name of the file. */
#define _GNU_SOURCE
#include "fuzz.h"
#include "sim/taskfile.h"

#include <errno.h>
#include <stdio.h>

static void check_message(const char *message, size_t size)
{
    FUZZ_CHECK(memchr(message, 0, size) && strncmp(message, "tasks:", 6) == 0);
    for (const char *c = message; *c; c++)
        FUZZ_CHECK(*c >= ' ' && *c <= '~');
}

static void check_task(const struct task_list *list, const struct task_line *t)
{
    int n = (int)list->n;
    FUZZ_CHECK(memchr(t->id, 0, sizeof t->id) && t->id[0] && t->line > 0);
    FUZZ_CHECK(t->at >= 0 && t->at <= SIM_TIME_MAX && t->duration >= 0 && t->duration <= SIM_TIME_MAX);
    FUZZ_CHECK(t->worker >= -1 && t->parent >= -1 && t->parent < n && (t->parent < 0 || t->at == 0));
    for (unsigned k = 0; k < t->n_after; k++)
        FUZZ_CHECK(t->after[k] >= 0 && t->after[k] < n);
}

static int can_run(const struct task_line *t, const char *done)
{
    int ready = t->parent < 0 || done[t->parent];
    for (unsigned k = 0; k < t->n_after; k++)
        ready &= done[t->after[k]];
    return ready;
}

/* Round after round, what can run has run. */
static void check_order(const struct task_list *list)
{
    char *done = calloc(list->n, 1);
    size_t left = list->n, before;
    FUZZ_CHECK(done);
    do {
        before = left;
        for (size_t i = 0; i < list->n; i++) {
            if (!done[i] && can_run(&list->task[i], done)) {
                done[i] = 1;
                left--;
            }
        }
    } while (left && left < before);
    FUZZ_CHECK(left == 0);
    free(done);
}

static void check_ids(const struct task_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < i; k++)
            FUZZ_CHECK(strcmp(list->task[i].id, list->task[k].id) != 0);
}

/* The same bytes as a file: the same answer. */
static void check_file(const struct task_list *list, const uint8_t *data, size_t size, int rc)
{
    struct task_list again;
    FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    if (!f)
        return;
    FUZZ_CHECK(task_list_read(&again, f, "tasks", NULL, 0) == rc && again.n == list->n);
    for (size_t i = 0; i < again.n; i++)
        FUZZ_CHECK(again.task[i].duration == list->task[i].duration);
    task_list_free(&again);
    fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct task_list list;
    char message[256];
    memset(message, '#', sizeof message);
    int rc = task_list_parse(&list, data, size, "tasks", message, sizeof message);
    FUZZ_CHECK(rc == 0 || rc == -EINVAL);
    FUZZ_CHECK(rc == 0 ? list.n > 0 : list.n == 0 && !list.task && !list.edges);
    check_file(&list, data, size, rc);
    for (size_t i = 0; i < list.n; i++)
        check_task(&list, &list.task[i]);
    if (rc)
        check_message(message, sizeof message);
    else
        check_order(&list);
    if (list.n < 200)
        check_ids(&list);
    task_list_free(&list);
    return 0;
}
