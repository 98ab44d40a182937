#include "sim/family.h"

#include <errno.h>
#include <stdlib.h>

static void read_record(struct family_task *t, const struct sim_record *e)
{
    switch (e->kind) {
    case SIM_SUBMITTED:
    case SIM_SPAWNED:
        t->submitted = e->at;
        break;
    case SIM_EXECUTING:
        t->begin = e->at;
        break;
    case SIM_WAITS:
        t->waited = true;
        t->before = e->at - t->begin;
        break;
    case SIM_RESUMED:
        t->after = -e->at; /* until it ends */
        break;
    case SIM_COMPLETED:
        t->end = e->at;
        if (t->waited)
            t->after += e->at;
        else
            t->before = e->at - t->begin;
        break;
    default:
        break;
    }
}

static void add_child(struct family *f, uint32_t parent, uint32_t child)
{
    struct family_task *p = &f->task[parent];
    const struct family_task *c = &f->task[child];
    p->children++;
    p->children_work += c->before + c->after + c->children_work;
    if (p->longest == SIM_NO_TASK || c->path >= f->task[p->longest].path)
        p->longest = child;
}

/* Children have higher numbers than their parents. */
static void add_up(struct family *f, const struct sim_result *r)
{
    for (size_t i = f->n; i-- > 0;) {
        struct family_task *t = &f->task[i];
        t->path = t->before + t->after;
        if (t->waited && t->longest != SIM_NO_TASK)
            t->path += f->task[t->longest].path;
        uint32_t parent = r->name[i].parent;
        if (parent != SIM_NO_TASK)
            add_child(f, parent, (uint32_t)i);
        else if (f->last == SIM_NO_TASK ||
                 t->submitted + t->path >= f->task[f->last].submitted + f->task[f->last].path)
            f->last = (uint32_t)i;
    }
}

int family_of(const struct sim_result *r, struct family *out)
{
    *out = (struct family){.n = r->tasks, .last = SIM_NO_TASK};
    if (r->records_cut || (r->tasks > 0 && !r->name))
        return -EINVAL;
    out->task = malloc((r->tasks + 1) * sizeof *out->task);
    if (!out->task)
        return -ENOMEM;
    for (size_t i = 0; i < r->tasks; i++)
        out->task[i] = (struct family_task){.begin = SIM_NEVER, .end = SIM_NEVER, .longest = SIM_NO_TASK};
    for (size_t i = 0; i < r->records; i++)
        if (r->record[i].task != SIM_NO_TASK)
            read_record(&out->task[r->record[i].task], &r->record[i]);
    for (size_t i = 0; i < r->tasks; i++)
        if (out->task[i].end == SIM_NEVER)
            out->task[i].after = out->task[i].after < 0 ? 0 : out->task[i].after;
    add_up(out, r);
    return 0;
}

void family_free(struct family *f)
{
    free(f->task);
    *f = (struct family){0};
}
