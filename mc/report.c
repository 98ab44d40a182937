/* report.c: how it came about, in lines, and in a string that repeats it. */
#include "mc_internal.h"

#include <stdlib.h>
#include <string.h>

struct step *mc_record(const struct mc_site *site, const char *what)
{
    static struct step spare;
    if (mc->steps == MC_STEPS)
        return &spare;
    struct step *s = &mc->step[mc->steps++];
    *s = (struct step){.thread = mc->current, .site = site, .what = what};
    return s;
}

static const char *const order_name[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static void print_value(FILE *out, uint64_t v)
{
    if (v < 100000)
        fprintf(out, "%llu", (unsigned long long)v);
    else if (v > UINT64_MAX - 1000)
        fprintf(out, "-%llu", (unsigned long long)(0 - v));
    else
        fprintf(out, "0x%llx", (unsigned long long)v);
}

/* Operations inside the address of another arrive expanded: nobody wants to read that. */
static void print_text(FILE *out, const char *text)
{
    const char *macro = strstr(text, "__extension__");
    if (macro)
        fprintf(out, " %.*s...)", (int)(macro - text), text);
    else
        fprintf(out, " %s", text);
}

static void print_step(FILE *out, int number, const struct step *s)
{
    fprintf(out, "%5d  ", number);
    for (int i = 0; i < s->thread; i++)
        fputs("    ", out);
    fprintf(out, "T%d ", s->thread);
    if (s->note) {
        fprintf(out, "-- %s\n", s->note);
        return;
    }
    fprintf(out, "%s", s->what);
    if (s->flags & STEP_ORDER)
        fprintf(out, " %s", order_name[s->order]);
    print_text(out, s->site->text);
    if (s->flags & STEP_BEFORE) {
        fputs(": ", out);
        print_value(out, s->before);
    }
    if (s->flags & STEP_AFTER) {
        fputs(s->flags & STEP_BEFORE ? " -> " : ": ", out);
        print_value(out, s->after);
    }
    fprintf(out, "%s%s%s", s->flags & STEP_FAILED ? " fails" : "", s->flags & STEP_OLD ? " (old)" : "",
            s->flags & STEP_LATE ? " (late: stored only later)" : "");
    if (s->site->line)
        fprintf(out, "   %s:%d %s", base_name(s->site->file), s->site->line, s->site->function);
    fputc('\n', out);
}

static bool same_step(const struct step *a, const struct step *b)
{
    return a->thread == b->thread && a->site == b->site && a->what == b->what && a->note == b->note &&
           a->before == b->before && a->after == b->after && a->flags == b->flags;
}

/* How many steps from i on repeat the `period` before them. */
static int repeats(int i, int period)
{
    int n = 0;
    while (i + n < mc->steps && i + n >= period && same_step(&mc->step[i + n], &mc->step[i + n - period]))
        n++;
    return n;
}

void mc_report(FILE *out)
{
    for (int i = 0; i < mc->steps; i++) {
        int best = 0;
        for (int period = 1; period <= 24; period++) {
            int n = repeats(i, period);
            best = n >= 2 * period && n > best ? n : best;
        }
        if (best > 0)
            fprintf(out, "       ... %d steps like those above\n", best);
        i += best;
        if (i < mc->steps)
            print_step(out, i, &mc->step[i]);
    }
    fprintf(out, "  %s\n", mc->message);
}

/* The choices made, without the trailing ones that are 0; runs of zeros as 0*N. */
void mc_replay_print(FILE *out)
{
    int last = mc->position;
    if (mc->every_step)
        fputs("r.", out); /* made with a choice before every step */
    while (last > 0 && mc->choice[last - 1].taken == 0)
        last--;
    for (int i = 0; i < last;) {
        int zeros = 0;
        while (i + zeros < last && mc->choice[i + zeros].taken == 0)
            zeros++;
        if (i > 0)
            fputc('.', out);
        if (zeros > 1)
            fprintf(out, "0*%d", zeros);
        else
            fprintf(out, "%d", mc->choice[i].taken);
        i += zeros > 1 ? zeros : 1;
    }
    if (last == 0)
        fputc('0', out);
}

/* The choices are checked against the model as it runs: counts are filled in then. */
int mc_replay_read(const char *text)
{
    int n = 0;
    mc->every_step = !strncmp(text, "r.", 2);
    if (mc->every_step)
        text += 2;
    while (*text) {
        char *end;
        long taken = strtol(text, &end, 10), times = 1;
        if (end == text || taken < 0 || taken > 1000)
            return -1;
        if (*end == '*')
            times = strtol(end + 1, &end, 10);
        if (times < 1 || times > MC_CHOICES - n || (*end && *end != '.'))
            return -1;
        while (times-- > 0)
            mc->script[n++] = (uint16_t)taken;
        text = *end ? end + 1 : end;
    }
    return n;
}
