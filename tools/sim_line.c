/* sim_line.c: the lines of a log, in the formats of document 003. Tests link this file alone. */
#include "sim.h"
#include <stdio.h>

#define NAME 128

struct sim_unit sim_unit_of(double seconds)
{
    static const struct sim_unit units[] = {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};
    size_t i = 0;
    while (i < 3 && seconds > 0 && seconds * units[i].per_second < 1)
        i++;
    return units[i];
}

struct line {
    const struct sim_result *result;
    const struct sim_record *record;
    enum sim_log style;
    char task[NAME];
    char *to;
    size_t size;
};

static void executing(const struct line *l)
{
    int sizes = l->style == SIM_LOG_BASIC || l->style == SIM_LOG_ADAPTIVE || l->style == SIM_LOG_FULL;
    int n = snprintf(l->to, l->size, "Worker %d: Executing %s", l->record->worker, l->task);
    if (sizes && n > 0 && (size_t)n < l->size)
        snprintf(l->to + n, l->size - (size_t)n, " (queue size: %u)", l->record->length);
}

static void stole(const struct line *l)
{
    int sizes = l->style == SIM_LOG_ADAPTIVE || l->style == SIM_LOG_FULL;
    int n = snprintf(l->to, l->size, "Worker %d: Stole %s from Worker %d", l->record->worker, l->task,
                     l->record->other);
    if (sizes && n > 0 && (size_t)n < l->size)
        snprintf(l->to + n, l->size - (size_t)n, " (target queue: %u)", l->record->length);
}

static void submitted(const struct line *l)
{
    if ((uint32_t)l->record->worker < l->result->workers)
        snprintf(l->to, l->size, "Submitted %s to Worker %d", l->task, l->record->worker);
    else
        snprintf(l->to, l->size, "Submitted %s to the pool's queue", l->task);
}

/* What only the full log has. */
static void other(const struct line *l)
{
    int worker = l->record->worker;
    if (l->style != SIM_LOG_FULL)
        return;
    switch (l->record->kind) {
    case SIM_WAITS:
        snprintf(l->to, l->size, "Worker %d: %s waits for its children", worker, l->task);
        break;
    case SIM_PARKED:
        snprintf(l->to, l->size, "Worker %d: Parked", worker);
        break;
    case SIM_WOKEN:
        snprintf(l->to, l->size, "Worker %d: Woken", worker);
        break;
    case SIM_LOCKED_OUT:
        if (l->record->other < 0)
            snprintf(l->to, l->size, "Worker %d: Met another at its own queue", worker);
        else
            snprintf(l->to, l->size, "Worker %d: Met another at the queue of Worker %d", worker,
                     l->record->other);
        break;
    default:
        break;
    }
}

static void write_line(const struct line *l)
{
    const struct sim_record *e = l->record;
    switch (e->kind) {
    case SIM_SUBMITTED:
        submitted(l);
        break;
    case SIM_EXECUTING:
        executing(l);
        break;
    case SIM_COMPLETED:
        snprintf(l->to, l->size, "Worker %d: Completed %s", e->worker, l->task);
        break;
    case SIM_STOLE:
        stole(l);
        break;
    case SIM_SPAWNED:
        snprintf(l->to, l->size, "Worker %d: Spawned %s%s", e->worker,
                 l->style == SIM_LOG_JOINING ? "child " : "", l->task);
        break;
    case SIM_RESUMED:
        snprintf(l->to, l->size, "Worker %d: All children of %s done; resuming parent", e->worker, l->task);
        break;
    default:
        other(l);
    }
}

/* Short runs read in their own unit: the log of document 003 has tenths of seconds. */
static int write_time(const struct sim_result *r, const struct sim_record *record, char *to, size_t size)
{
    double at = sim_time_seconds(record->at), end = sim_time_seconds(r->end);
    struct sim_unit unit = sim_unit_of(end);
    if (end >= 1 || end == 0)
        return snprintf(to, size, "[%.1f] ", at);
    return snprintf(to, size, "[%.*f %s] ", unit.per_second < 1e9 ? 3 : 0, at * unit.per_second, unit.name);
}

void sim_log_line(const struct sim_result *r, const struct sim_record *record, enum sim_log style, char *to,
                  size_t size)
{
    struct line l = {.result = r, .record = record, .style = style};
    int n = write_time(r, record, to, size);
    if (n < 0 || (size_t)n >= size)
        return;
    l.to = to + n;
    l.size = size - (size_t)n;
    *l.to = '\0';
    if (record->task != SIM_NO_TASK)
        sim_task_name(r, record->task, l.task, sizeof l.task);
    write_line(&l);
    if (*l.to == '\0')
        *to = '\0';
}
