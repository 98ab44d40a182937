#include "sim/dist.h"
#include "sim/decimal.h"
#include "sim/lines.h"
#include "sim/math.h"
#include "sim/refuse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 3, ARGUMENT_SIZE = 64 };

static const struct form {
    const char *word;
    const char *separator;
    int least, most; /* arguments */
    const char *usage;
} forms[] = {
    [DIST_CONST] = {"const", ",", 1, 1, "const:TIME"},
    [DIST_UNIFORM] = {"uniform", "..", 2, 2, "uniform:LOW..HIGH"},
    [DIST_EXP] = {"exp", ",", 1, 1, "exp:MEAN"},
    [DIST_LOGNORMAL] = {"lognormal", ",", 2, 2, "lognormal:MEAN,CV"},
    [DIST_PARETO] = {"pareto", ",", 2, 3, "pareto:LEAST,EXPONENT or pareto:LEAST,EXPONENT,MOST"},
    [DIST_BIMODAL] = {"bimodal", ",", 3, 3, "bimodal:TIME,TIME,PROBABILITY"},
    [DIST_FILE] = {"file", NULL, 1, 1, "file:PATH"},
};

/* What a parser works on: the whole text, its parts, and where the message goes. */
struct source {
    const char *text;
    char part[ARGUMENTS][ARGUMENT_SIZE];
    int parts;
    char *message;
    size_t size;
};

/* ---- parameters -------------------------------------------------------------------------------- */

static int take_time(const struct source *s, int i, sim_time least, sim_time *out)
{
    char why[160];
    int rc = sim_time_parse(s->part[i], out, why, sizeof why);
    if (rc)
        return sim_refuse(s->message, s->size, "%s (in \"%.80s\")", why, s->text);
    if (*out < least)
        return sim_refuse(s->message, s->size, "\"%.80s\": the time \"%s\" must be above 0", s->text,
                          s->part[i]);
    return 0;
}

static int take_number(const struct source *s, int i, const char *what, int64_t least, int64_t most,
                       int64_t *out)
{
    char why[200];
    int rc = decimal_parse(s->part[i], what, least, most, out, why, sizeof why);
    return rc ? sim_refuse(s->message, s->size, "%s (in \"%.80s\")", why, s->text) : 0;
}

static int take_uniform(struct dist *d, const struct source *s)
{
    if (take_time(s, 0, 0, &d->a) || take_time(s, 1, 0, &d->b))
        return -EINVAL;
    if (d->a > d->b)
        return sim_refuse(s->message, s->size, "\"%.80s\": the first time must not be above the second",
                          s->text);
    return 0;
}

static int take_exp(struct dist *d, const struct source *s)
{
    if (take_time(s, 0, 1, &d->a))
        return -EINVAL;
    d->scale = (double)d->a;
    return 0;
}

static int take_lognormal(struct dist *d, const struct source *s)
{
    if (take_time(s, 0, 1, &d->a) ||
        take_number(s, 1, "the coefficient of variation", 0, 1000 * (int64_t)DECIMAL_ONE, &d->shape))
        return -EINVAL;
    double cv = (double)d->shape / DECIMAL_ONE, variance = sim_log1p(cv * cv);
    d->scale = (double)d->a;
    d->factor = sim_sqrt(variance);
    d->shift = -variance / 2;
    return 0;
}

static int take_pareto(struct dist *d, const struct source *s)
{
    if (take_time(s, 0, 1, &d->a) ||
        take_number(s, 1, "the exponent", DECIMAL_ONE / 100, 1000 * (int64_t)DECIMAL_ONE, &d->shape))
        return -EINVAL;
    double exponent = (double)d->shape / DECIMAL_ONE;
    d->b = SIM_NEVER;
    d->scale = (double)d->a;
    d->factor = 1 / exponent;
    if (s->parts < 3)
        return 0;
    if (take_time(s, 2, 1, &d->b))
        return -EINVAL;
    if (d->b < d->a)
        return sim_refuse(s->message, s->size, "\"%.80s\": the bound must not be below the least value",
                          s->text);
    d->shift = sim_pow((double)d->a / (double)d->b, exponent);
    return 0;
}

static int take_bimodal(struct dist *d, const struct source *s)
{
    if (take_time(s, 0, 0, &d->a) || take_time(s, 1, 0, &d->b) ||
        take_number(s, 2, "the probability", 0, DECIMAL_ONE, &d->shape))
        return -EINVAL;
    return 0;
}

/* ---- a file of times --------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
    sim_time x = *(const sim_time *)a, y = *(const sim_time *)b;
    return (x > y) - (x < y);
}

static int append(struct dist *d, size_t *room, sim_time t)
{
    if (d->n == *room) {
        size_t more = *room ? *room * 2 : 64;
        sim_time *times = realloc(d->times, more * sizeof *times);
        if (!times)
            return -ENOMEM;
        d->times = times;
        *room = more;
    }
    d->times[d->n++] = t;
    return 0;
}

static int read_times(struct dist *d, struct lines *l, char *message, size_t size)
{
    char why[160];
    size_t room = 0;
    int got;
    while ((got = lines_next(l, message, size)) == 1) {
        sim_time t;
        if (sim_time_parse(l->text, &t, why, sizeof why))
            return sim_refuse(message, size, "%s:%zu: %s", l->name, l->number, why);
        if (d->n == DIST_FILE_MOST)
            return sim_refuse(message, size, "%s:%zu: more than %d times", l->name, l->number,
                              DIST_FILE_MOST);
        if (append(d, &room, t)) {
            sim_refuse(message, size, "%s:%zu: no memory for more times", l->name, l->number);
            return -ENOMEM;
        }
    }
    if (got == 0 && d->n == 0)
        return sim_refuse(message, size, "%s: no time in it; one per line is needed", l->name);
    return got;
}

static int take_file(struct dist *d, const char *path, char *message, size_t size)
{
    struct lines *l = malloc(sizeof *l);
    FILE *from = NULL;
    int rc = -ENOMEM;
    d->path = strdup(path);
    if (!l || !d->path) {
        sim_refuse(message, size, "%.200s: no memory to read it", path);
        goto out;
    }
    from = fopen(path, "re");
    if (!from) {
        rc = sim_refuse(message, size, "%.200s: %s", path, strerror(errno));
        goto out;
    }
    lines_from_file(l, from, d->path);
    rc = read_times(d, l, message, size);
    if (rc == 0)
        qsort(d->times, d->n, sizeof *d->times, compare_times);
out:
    if (from)
        fclose(from);
    free(l);
    return rc;
}

/* ---- text -------------------------------------------------------------------------------------- */

/* The form whose word stands before the colon; without a colon the text is a time. */
static int form_of(const char *text, const char **rest)
{
    const char *colon = strchr(text, ':');
    *rest = colon ? colon + 1 : text;
    if (!colon)
        return DIST_CONST;
    for (int i = 0; i < (int)(sizeof forms / sizeof *forms); i++) {
        size_t n = strlen(forms[i].word);
        if (n == (size_t)(colon - text) && memcmp(text, forms[i].word, n) == 0)
            return i;
    }
    return -1;
}

/* Cuts `rest` into s->part[]. False if there are too many parts or one is too long. */
static bool cut(struct source *s, const char *rest, const char *separator)
{
    for (;;) {
        const char *end = strstr(rest, separator);
        size_t n = end ? (size_t)(end - rest) : strlen(rest);
        if (s->parts == ARGUMENTS || n >= ARGUMENT_SIZE)
            return false;
        memcpy(s->part[s->parts], rest, n);
        s->part[s->parts++][n] = '\0';
        if (!end)
            return true;
        rest = end + strlen(separator);
    }
}

static int take_numbers(struct dist *d, struct source *s, const char *rest)
{
    const struct form *f = &forms[d->kind];
    if (!cut(s, rest, f->separator) || s->parts < f->least || s->parts > f->most)
        return sim_refuse(s->message, s->size, "\"%.80s\" is no distribution; %s is needed", s->text,
                          f->usage);
    switch (d->kind) {
    case DIST_UNIFORM:
        return take_uniform(d, s);
    case DIST_EXP:
        return take_exp(d, s);
    case DIST_LOGNORMAL:
        return take_lognormal(d, s);
    case DIST_PARETO:
        return take_pareto(d, s);
    case DIST_BIMODAL:
        return take_bimodal(d, s);
    case DIST_CONST:
    case DIST_FILE:
        break;
    }
    return take_time(s, 0, 0, &d->a);
}

/* How many of 2^63 numbers give the smaller of two times. */
static uint64_t threshold_of(const struct dist *d)
{
    int64_t smaller = d->b >= d->a ? DECIMAL_ONE - d->shape : d->shape;
    return (uint64_t)(((unsigned __int128)smaller << 63) / DECIMAL_ONE);
}

int dist_parse(struct dist *d, const char *text, char *message, size_t size)
{
    const char *rest;
    int kind = form_of(text, &rest), rc;
    memset(d, 0, sizeof *d);
    if (kind < 0)
        return sim_refuse(message, size,
                          "\"%.80s\" is no distribution; it begins with const:, uniform:, exp:, lognormal:, "
                          "pareto:, bimodal: or file:",
                          text);
    d->kind = (enum dist_kind)kind;
    if (d->kind == DIST_FILE) {
        rc = take_file(d, rest, message, size);
    } else {
        struct source s = {.text = text, .message = message, .size = size};
        rc = take_numbers(d, &s, rest);
        d->threshold = d->kind == DIST_BIMODAL ? threshold_of(d) : 0;
    }
    if (rc)
        dist_free(d);
    return rc;
}

void dist_free(struct dist *d)
{
    free(d->times);
    free(d->path);
    memset(d, 0, sizeof *d);
}

int dist_print(const struct dist *d, char *to, size_t size)
{
    char a[SIM_TIME_TEXT], b[SIM_TIME_TEXT], x[SIM_TIME_TEXT];
    const char *word = forms[d->kind].word;
    sim_time_print(a, sizeof a, d->a);
    sim_time_print(b, sizeof b, d->b);
    decimal_print(x, sizeof x, d->shape, DECIMAL_ONE, 9);
    switch (d->kind) {
    case DIST_CONST:
    case DIST_EXP:
        return snprintf(to, size, "%s:%s", word, a);
    case DIST_UNIFORM:
        return snprintf(to, size, "%s:%s..%s", word, a, b);
    case DIST_LOGNORMAL:
        return snprintf(to, size, "%s:%s,%s", word, a, x);
    case DIST_PARETO:
        if (d->b == SIM_NEVER)
            return snprintf(to, size, "%s:%s,%s", word, a, x);
        return snprintf(to, size, "%s:%s,%s,%s", word, a, x, b);
    case DIST_BIMODAL:
        return snprintf(to, size, "%s:%s,%s,%s", word, a, b, x);
    case DIST_FILE:
        break;
    }
    return snprintf(to, size, "%s:%s", word, d->path);
}
