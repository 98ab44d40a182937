/* A pipeline: one task reads, three work on what was read, one writes it in the order of reading. Channels
 * connect them; each stage closes its channel when it is done. The tasks belong to a scope: if one of them
 * fails, the others end as well, whatever they wait for. */
#include <errno.h>
#include <filch/chan.h>
#include <filch/ord.h>
#include <filch/scope.h>
#include <filch/sync.h>
#include <stdio.h>

enum { LINES = 2000, WORKERS = 3, WINDOW = 16 };

struct line {
    int number; /* its place in the input */
    char text[28];
};

struct pipeline {
    filch_chan *raw, *done;
    filch_sem window; /* a permit for each line between reader and writer: they are WINDOW at most */
    int working;      /* how many of the middle stage are left */
    int broken;       /* the line that cannot be read, or -1 */
    int written;
    unsigned long sum;
};

/* What stands for the input. */
static void get_line(struct line *l, int number)
{
    l->number = number;
    snprintf(l->text, sizeof l->text, "line %d", number);
}

static int read_lines(void *arg)
{
    struct pipeline *p = arg;
    struct line l;
    int rc = 0;
    for (int i = 0; i < LINES && rc == 0; i++) {
        get_line(&l, i);
        rc = filch_sem_acquire(&p->window, FILCH_FOREVER);
        if (rc == 0)
            rc = filch_chan_send(p->raw, &l, FILCH_FOREVER);
    }
    filch_chan_close(p->raw);
    return rc;
}

static void change(struct line *l)
{
    for (char *c = l->text; *c != '\0'; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
}

/* The last of the three closes the channel to the writer. */
static int change_lines(void *arg)
{
    struct pipeline *p = arg;
    struct line l;
    int rc;
    while ((rc = filch_chan_recv(p->raw, &l, FILCH_FOREVER)) == 0) {
        if (l.number == p->broken)
            return -EBADMSG; /* cancels the scope: nobody waits for us */
        change(&l);
        if ((rc = filch_chan_send(p->done, &l, FILCH_FOREVER)) != 0)
            return rc;
    }
    if (filch_sub_acq_rel(&p->working, 1) == 1)
        filch_chan_close(p->done);
    return rc == -EPIPE ? 0 : rc; /* closed, and nothing left: the end */
}

static int write_lines(void *arg)
{
    struct pipeline *p = arg;
    struct line l, early[WINDOW] = {{0}}; /* lines that came before their turn, by their number */
    int here[WINDOW] = {0}, rc;
    while ((rc = filch_chan_recv(p->done, &l, FILCH_FOREVER)) == 0) {
        early[l.number % WINDOW] = l;
        here[l.number % WINDOW] = 1;
        for (int at; here[at = p->written % WINDOW]; p->written++) {
            here[at] = 0;
            for (const char *c = early[at].text; *c != '\0'; c++) /* what stands for the output */
                p->sum = p->sum * 31 + (unsigned char)*c;
            filch_sem_release(&p->window, 1);
        }
    }
    return rc == -EPIPE ? 0 : rc;
}

static int run(struct pipeline *p)
{
    filch_scope scope;
    if (filch_chan_create(&p->raw, sizeof(struct line), 4) != 0 ||
        filch_chan_create(&p->done, sizeof(struct line), 4) != 0 || filch_scope_open(&scope) != 0)
        return -ENOMEM;
    filch_sem_init(&p->window, WINDOW);
    p->working = WORKERS;
    filch_scope_go_named(&scope, "reader", read_lines, p, NULL);
    for (int i = 0; i < WORKERS; i++)
        filch_scope_go_named(&scope, "changer", change_lines, p, NULL);
    filch_scope_go_named(&scope, "writer", write_lines, p, NULL);
    int rc = filch_scope_close(&scope); /* all have ended, however */
    printf("%d lines written\n", p->written);
    if (rc != 0)
        printf("stopped by a %s: error %d\n", filch_scope_failed(&scope), -rc);
    filch_chan_destroy(p->raw);
    filch_chan_destroy(p->done);
    filch_sem_destroy(&p->window);
    return rc;
}

int main(void)
{
    unsigned long want = 0;
    for (int i = 0; i < LINES; i++) {
        struct line l;
        get_line(&l, i);
        change(&l);
        for (const char *c = l.text; *c != '\0'; c++)
            want = want * 31 + (unsigned char)*c;
    }
    struct pipeline good = {.broken = -1}, bad = {.broken = LINES / 2};
    if (run(&good) != 0 || good.written != LINES || good.sum != want)
        return 1;
    return run(&bad) == -EBADMSG && bad.written <= LINES / 2 ? 0 : 1;
}
