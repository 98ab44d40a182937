/* report.c: the progress line, the table, the verdict. */
#include "seam.h"
#include "soak.h"
#include "tools/json.h"
#include "tools/term.h"

#include <stdio.h>
#include <sys/resource.h>

static uint64_t figure(const uint64_t *p)
{
    return filch_load_relaxed(p); /* order: a figure */
}

static uint64_t tasks_total(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < phase_count; i++)
        sum += figure(&soak_phase_totals[i].tasks);
    return sum;
}

/* 53211874 as 53,211,874; several per call of printf. */
static const char *grouped(uint64_t n)
{
    static char texts[8][32];
    static int next;
    char *end = texts[next++ % 8] + 31, *p = end;
    int digits = 0;
    *p = 0;
    do {
        if (digits && digits % 3 == 0)
            *--p = ',';
        *--p = (char)('0' + n % 10);
        n /= 10;
        digits++;
    } while (n);
    return p;
}

static double memory_mib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss / 1024;
}

int report_status(void)
{
    return figure(&soak_lost) || figure(&soak_doubled) || figure(&soak_wrong) || figure(&soak_stalls);
}

void report_progress(const struct options *o, double seconds)
{
    if (!o->json)
        term_progress("%.0f of %d s: %s tasks, %s lost, %s double", seconds, o->seconds,
                      grouped(tasks_total()), grouped(figure(&soak_lost)), grouped(figure(&soak_doubled)));
}

/* ---- for people ---------------------------------------------------------------------------- */

static void table(void)
{
    printf("%-10s %8s %15s\n", "phase", "runs", "tasks");
    for (int i = 0; i < phase_count; i++)
        if (figure(&soak_phase_totals[i].runs))
            printf("%-10s %8s %15s\n", phases[i].name, grouped(figure(&soak_phase_totals[i].runs)),
                   grouped(figure(&soak_phase_totals[i].tasks)));
    struct seam_totals s = seam_totals();
    printf("\n%s pauses (%s of them long), %s spurious wake-ups, %s injected failures, %s forks, "
           "%s affinity changes, %.0f MiB\n",
           grouped(s.pauses), grouped(s.long_pauses), grouped(s.spurious), grouped(s.failures),
           grouped(figure(&soak_children)), grouped(figure(&soak_affinity)), memory_mib());
}

static void verdict(const struct options *o, double seconds)
{
    printf("soak: %s tasks, %s lost, %s double, %s stalls", grouped(tasks_total()),
           grouped(figure(&soak_lost)), grouped(figure(&soak_doubled)), grouped(figure(&soak_stalls)));
    if (figure(&soak_wrong))
        printf(", %s wrong", grouped(figure(&soak_wrong)));
    printf(" (%.0f s, seed %llu)\n", seconds, (unsigned long long)o->seed);
}

/* ---- for programs -------------------------------------------------------------------------- */

static void objects(const struct options *o, double seconds)
{
    for (int i = 0; i < phase_count; i++) {
        struct json j = json_open(stdout);
        json_string(&j, "phase", phases[i].name);
        json_number(&j, "runs", (double)figure(&soak_phase_totals[i].runs));
        json_number(&j, "tasks", (double)figure(&soak_phase_totals[i].tasks));
        json_close(&j);
    }
    struct seam_totals s = seam_totals();
    struct json j = json_open(stdout);
    json_string(&j, "phase", "all");
    json_number(&j, "tasks", (double)tasks_total());
    json_number(&j, "lost", (double)figure(&soak_lost));
    json_number(&j, "double", (double)figure(&soak_doubled));
    json_number(&j, "stalls", (double)figure(&soak_stalls));
    json_number(&j, "wrong", (double)figure(&soak_wrong));
    json_number(&j, "pauses", (double)s.pauses);
    json_number(&j, "spurious", (double)s.spurious);
    json_number(&j, "failures", (double)s.failures);
    json_number(&j, "forks", (double)figure(&soak_children));
    json_number(&j, "affinity", (double)figure(&soak_affinity));
    json_number(&j, "memory_mib", memory_mib());
    json_number(&j, "seconds", seconds);
    json_number(&j, "seed", (double)o->seed);
    json_bool(&j, "passed", !report_status());
    json_close(&j);
}

void report_end(const struct options *o, double seconds)
{
    term_progress_end();
    if (o->json) {
        objects(o, seconds);
    } else {
        table();
        verdict(o, seconds);
    }
    fflush(stdout);
}
