/* sim_kit.h: runs that are described by pairs key=value, as on the command line of `filch sim`. */
#ifndef FILCH_TESTS_SIM_KIT_H
#define FILCH_TESTS_SIM_KIT_H

#include "check.h"
#include "sim/setup.h"

enum { KIT_TEXT = 1024 };

struct kit {
    struct setup_run run;
    struct sim_result r;
    int rc;
    char message[300];
};

CHECK_UNUSED_ static void kit_make(struct kit *k, const char *pairs, const char *more)
{
    struct setup *s = malloc(sizeof *s);
    memset(k, 0, sizeof *k);
    CHECK(s != NULL);
    setup_init(s);
    k->rc = setup_parse(s, pairs, true, k->message, sizeof k->message);
    if (k->rc == 0)
        k->rc = setup_parse(s, more, true, k->message, sizeof k->message);
    if (k->rc == 0)
        k->rc = setup_make(&k->run, s, k->message, sizeof k->message);
    k->run.config.record = true;
    free(s);
}

CHECK_UNUSED_ static void kit_start(struct kit *k)
{
    if (k->rc == 0)
        k->rc = sim_run(&k->run.config, &k->run.load, &k->r, k->message, sizeof k->message);
}

/* Runs `pairs`, and then `more`, with records. kit_end() frees what it holds, also if the run was refused. */
CHECK_UNUSED_ static void kit_try(struct kit *k, const char *pairs, const char *more)
{
    kit_make(k, pairs, more);
    kit_start(k);
}

/* The same; the run must be accepted. */
CHECK_UNUSED_ static void kit_run(struct kit *k, const char *pairs, const char *more)
{
    kit_try(k, pairs, more);
    CHECK_MSG(k->rc == 0, "%s %s: %s", pairs, more, k->message);
}

CHECK_UNUSED_ static const struct task_list *kit_list(struct kit *k, const char *text)
{
    k->rc = task_list_parse(&k->run.list, text, strlen(text), "list", k->message, sizeof k->message);
    k->run.load.behavior = SIM_LISTED;
    k->run.load.arrivals.kind = SIM_ARRIVE_LIST;
    return &k->run.list;
}

/* The lines of a task file instead of a load. */
CHECK_UNUSED_ static void kit_try_list(struct kit *k, const char *list, const char *pairs)
{
    kit_make(k, pairs, "");
    if (k->rc == 0)
        k->run.load.list = kit_list(k, list);
    kit_start(k);
}

CHECK_UNUSED_ static void kit_run_list(struct kit *k, const char *list, const char *pairs)
{
    kit_try_list(k, list, pairs);
    CHECK_MSG(k->rc == 0, "%s: %s", pairs, k->message);
}

/* The record of this kind of the task with this name, the n-th such from 0 on; null: there is none. */
CHECK_UNUSED_ static const struct sim_record *kit_record(const struct kit *k, enum sim_record_kind kind,
                                                         const char *task, int n)
{
    char name[80];
    for (size_t i = 0; i < k->r.records; i++) {
        const struct sim_record *e = &k->r.record[i];
        if (e->kind != kind)
            continue;
        sim_task_name(&k->r, e->task, name, sizeof name);
        if (strcmp(name, task) == 0 && n-- == 0)
            return e;
    }
    return NULL;
}

/* When and on which worker a task began. */
CHECK_UNUSED_ static sim_time kit_began(const struct kit *k, const char *task)
{
    const struct sim_record *e = kit_record(k, SIM_EXECUTING, task, 0);
    CHECK_MSG(e != NULL, "%s did not begin", task);
    return e->at;
}

CHECK_UNUSED_ static int kit_worker(const struct kit *k, const char *task)
{
    const struct sim_record *e = kit_record(k, SIM_EXECUTING, task, 0);
    CHECK_MSG(e != NULL, "%s did not begin", task);
    return e->worker;
}

CHECK_UNUSED_ static void kit_end(struct kit *k)
{
    sim_result_free(&k->r);
    setup_free(&k->run);
}

#endif
