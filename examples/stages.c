/* Read, work in parallel, write in order: a pipeline of three stages over lines of text. Each line is a
 * number; it is written again with its factors. Lines that are empty are filtered out, and one that is no
 * number stops everything: what is in flight then is dropped, and what was written is the beginning of the
 * output. */
#include <errno.h>
#include <filch/pipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 128 };

struct line {
    char text[LINE];
};

static int read_line(void **item, void *file)
{
    struct line *l = malloc(sizeof *l);
    if (!l)
        return -ENOMEM;
    if (!fgets(l->text, LINE, file)) {
        free(l);
        return 0; /* no item: the end */
    }
    l->text[strcspn(l->text, "\n")] = '\0';
    *item = l;
    return 0;
}

/* Many at once. */
static int factor(void **item, void *unused)
{
    (void)unused;
    struct line *l = *item;
    if (l->text[0] == '\0') {
        free(l);
        *item = NULL; /* the later stages do not see it */
        return 0;
    }
    char *end;
    unsigned long n = strtoul(l->text, &end, 10);
    if (*end != '\0' || n == 0)
        return -EBADMSG;
    int used = snprintf(l->text, LINE, "%lu:", n);
    for (unsigned long d = 2; d * d <= n; d++)
        for (; n % d == 0; n /= d)
            used += snprintf(l->text + used, (size_t)(LINE - used), " %lu", d);
    if (n > 1)
        snprintf(l->text + used, (size_t)(LINE - used), " %lu", n);
    return 0;
}

/* In the order in which they were read. */
static int write_line(void **item, void *file)
{
    struct line *l = *item;
    int rc = fprintf(file, "%s\n", l->text) < 0 ? -EIO : 0;
    if (rc == 0)
        free(l); /* else it is dropped */
    return rc;
}

static void drop_line(void *item, void *unused)
{
    (void)unused;
    free(item);
}

static int run(FILE *in, FILE *out)
{
    filch_stage stages[] = {
        {read_line,  in,   FILCH_STAGE_IN_ORDER, "read"},
        {factor,     NULL, FILCH_STAGE_PARALLEL, "factor"},
        {write_line, out,  FILCH_STAGE_IN_ORDER, "write"},
    };
    return filch_pipe_run(stages, 3, drop_line, NULL);
}

/* Numbers from 1 to `last`, with empty lines between them, and perhaps a word instead of one. */
static FILE *input(int last, int word)
{
    FILE *in = tmpfile();
    for (int i = 1; in && i <= last; i++)
        fprintf(in, i == word ? "word\n" : "%d\n\n", i);
    if (in)
        rewind(in);
    return in;
}

/* How many lines begin with the number that they should. */
static int good_lines(FILE *out)
{
    char text[LINE];
    int n = 0;
    rewind(out);
    while (fgets(text, LINE, out) && atoi(text) == n + 1)
        n++;
    return n;
}

int main(void)
{
    enum { LAST = 3000, WORD = 2000 };
    FILE *in = input(LAST, 0), *out = tmpfile(), *bad = input(LAST, WORD), *begun = tmpfile();
    if (!in || !out || !bad || !begun)
        return 1;
    int rc = run(in, out), stopped = run(bad, begun), lines = good_lines(out), before = good_lines(begun);
    printf("%d lines; %s\n", lines, stopped == -EBADMSG ? "stopped by a bad line" : "not stopped");
    fclose(in), fclose(out), fclose(bad), fclose(begun);
    return rc == 0 && lines == LAST && stopped == -EBADMSG && before < WORD ? 0 : 1;
}
