#include "bench_run.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FOLDER_SIZE 4096
#define ANSWER_SIZE 1024

/* ---- where the programs are ---------------------------------------------------------------- */

static int folder_exists(const char *folder)
{
    return access(folder, R_OK | X_OK) == 0;
}

const char *run_folder(void)
{
    static const char *const places[] = {"bench", "../libexec/filch"};
    static char folder[FOLDER_SIZE];
    char self[FOLDER_SIZE - 64];
    const char *wish = getenv("FILCH_BENCH_DIR");

    if (wish && *wish)
        return folder_exists(wish) ? wish : NULL;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return NULL;
    self[length] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(folder, sizeof folder, "%s/%s", self, places[i]);
        if (folder_exists(folder))
            return folder;
    }
    return NULL;
}

/* ---- one run ------------------------------------------------------------------------------- */

struct child {
    pid_t pid;
    int out; /* its standard output and error */
    char answer[ANSWER_SIZE];
    size_t length;
};

/* Deep recursion must not end a peer whose threads have small stacks by default. */
static void child_become(const struct plan_row *row, const char *path, int out)
{
    char workers[16];
    snprintf(workers, sizeof workers, "%d", row->workers);
    setenv("OMP_STACKSIZE", "64M", 0);
    unsetenv("FILCH_STATS");
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execl(path, row->program, row->name, workers, row->mode, row->size, (char *)NULL);
    _exit(127);
}

static int child_start(struct child *c, const struct plan_row *row, const char *path)
{
    int ends[2];
    if (pipe(ends))
        return -1;
    fflush(NULL);
    c->length = 0;
    c->pid = fork();
    if (c->pid == 0) {
        close(ends[0]);
        child_become(row, path, ends[1]);
    }
    close(ends[1]);
    c->out = ends[0];
    if (c->pid > 0)
        return 0;
    close(c->out);
    return -1;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads until the program closes its output; 0 if it took too long. */
static int child_listen(struct child *c, int timeout_s)
{
    int64_t deadline = now_ms() + (int64_t)timeout_s * 1000;
    char drop[256];
    for (;;) {
        struct pollfd p = {c->out, POLLIN, 0};
        int64_t left = deadline - now_ms();
        if (left <= 0)
            return 0;
        if (poll(&p, 1, left > 10000 ? 10000 : (int)left) <= 0)
            continue;
        size_t room = sizeof c->answer - 1 - c->length;
        ssize_t got = room ? read(c->out, c->answer + c->length, room)
                           : read(c->out, drop, sizeof drop);
        if (got == 0 || (got < 0 && errno != EINTR))
            return 1;
        if (room && got > 0)
            c->length += (size_t)got;
    }
}

static int child_end(struct child *c)
{
    int status = 0;
    close(c->out);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
    c->answer[c->length] = 0;
    return status;
}

/* ---- what it said -------------------------------------------------------------------------- */

static void figure_add(struct plan_row *row, const char *key, double value)
{
    if (row->figure_count == PLAN_FIGURES)
        return;
    snprintf(row->figures[row->figure_count].key, sizeof row->figures[0].key, "%s", key);
    row->figures[row->figure_count++].value = value;
}

/* The figures of the smallest sample are kept. runtime_version comes last and may have spaces. */
static int answer_read(struct plan_row *row, char *answer)
{
    static const char mark[] = " runtime_version=";
    double ns;
    char *version = strstr(answer, mark);
    if (sscanf(answer, "ns_per_op=%lf", &ns) != 1 || !isfinite(ns) || ns < 0 || !version)
        return -1;
    *version = 0;
    row->samples[row->n++] = ns;
    if (row->n > 1 && ns >= row->samples[row->best])
        return 0;
    row->best = row->n - 1;
    row->figure_count = 0;
    version += sizeof mark - 1;
    snprintf(row->runtime_version, sizeof row->runtime_version, "%.*s",
             (int)strcspn(version, "\n"), version);
    char *figures = strchr(answer, ' ');
    for (char *word = figures ? strtok(figures, " ") : NULL; word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        if (value) {
            *value = 0;
            figure_add(row, word, atof(value + 1));
        }
    }
    return 0;
}

static void error_set(struct plan_row *row, const char *what, const char *text)
{
    snprintf(row->error, sizeof row->error, "%s%s%.*s", what, *text ? ": " : "",
             (int)strcspn(text, "\n"), text);
}

static void answer_judge(struct plan_row *row, struct child *c, int status)
{
    char what[64];
    if (WIFSIGNALED(status)) {
        snprintf(what, sizeof what, "ended by signal %d", WTERMSIG(status));
        error_set(row, what, c->answer);
    } else if (WEXITSTATUS(status) == 127 && !c->length) {
        error_set(row, "cannot be started", row->program);
    } else if (WEXITSTATUS(status)) {
        snprintf(what, sizeof what, "status %d", WEXITSTATUS(status));
        error_set(row, what, c->answer);
    } else if (answer_read(row, c->answer)) {
        error_set(row, "unexpected output", c->answer);
    }
}

void run_once(struct plan_row *row, const char *folder, int timeout_s)
{
    char path[FOLDER_SIZE];
    struct child c;
    if (row->error[0] || row->n == PLAN_ROUNDS_MAX)
        return;
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", row->program);
    if (!folder || access(path, X_OK)) {
        error_set(row, "not built", row->program);
        return;
    }
    if (child_start(&c, row, path)) {
        error_set(row, "cannot be started", strerror(errno));
        return;
    }
    int finished = child_listen(&c, timeout_s);
    if (!finished)
        kill(c.pid, SIGKILL);
    int status = child_end(&c);
    if (finished)
        answer_judge(row, &c, status);
    else
        snprintf(row->error, sizeof row->error, "took longer than %d s", timeout_s);
}
