/* test_spawn.c: programs that a task starts by posix_spawn, posix_spawnp, system and popen have the signal
 * mask and the timer slack that they would have from a thread outside. */
#define _GNU_SOURCE
#include "pool_kit.h"

#include <fcntl.h>
#include <filch/task.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* SigBlk and SigIgn of the shell's own status, and its slack. */
#define SHOW \
    "while read k v; do case $k in SigBlk: | SigIgn:) echo $v ;; esac; done </proc/$$/status; " \
    "cat /proc/$$/timerslack_ns"

extern char **environ;

static char expected[64], answer[256];
static unsigned long ignored;

static const char *read_answer(int fd)
{
    size_t have = 0;
    ssize_t n;
    while ((n = read(fd, answer + have, sizeof answer - 1 - have)) > 0)
        have += (size_t)n;
    answer[have] = '\0';
    /* Three lines: the mask, what is ignored, the slack. The second is left out. */
    char *second = strchr(answer, '\n');
    CHECK(second);
    ignored = strtoul(++second, NULL, 16) & 0x7fffffff;
    char *third = strchr(second, '\n');
    CHECK(third);
    memmove(second, third + 1, strlen(third));
    return answer;
}

typedef int spawn_fn(pid_t *restrict, const char *restrict, const posix_spawn_file_actions_t *restrict,
                     const posix_spawnattr_t *restrict, char *const[restrict], char *const[restrict]);

static const char *spawned(spawn_fn *fn, const char *path, const posix_spawnattr_t *attr)
{
    int out[2], status;
    pid_t pid;
    char *const argv[] = {(char *)"sh", (char *)"-c", (char *)SHOW, NULL};
    posix_spawn_file_actions_t actions;
    CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
    CHECK_EQ(posix_spawn_file_actions_init(&actions), 0);
    CHECK_EQ(posix_spawn_file_actions_adddup2(&actions, out[1], 1), 0);
    CHECK_EQ(fn(&pid, path, &actions, attr, argv, environ), 0);
    close(out[1]);
    read_answer(out[0]);
    close(out[0]);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    posix_spawn_file_actions_destroy(&actions);
    return answer;
}

static sigset_t my_mask(void)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return mask;
}

static void check_same_thread_as(const sigset_t *before)
{
    sigset_t now = my_mask();
    for (int sig = 1; sig < 32; sig++)
        CHECK_EQ(sigismember(&now, sig), sigismember(before, sig));
    CHECK_EQ(prctl(PR_GET_TIMERSLACK), 1000);
}

static int in_task_spawns(void *arg)
{
    (void)arg;
    sigset_t before = my_mask();
    CHECK_STR(spawned(posix_spawn, "/bin/sh", NULL), expected);
    CHECK_STR(spawned(posix_spawnp, "sh", NULL), expected);
    check_same_thread_as(&before);
    return 0;
}

/* What the caller asks for is what it gets. */
static int in_task_spawns_with_attributes(void *arg)
{
    (void)arg;
    posix_spawnattr_t attr;
    sigset_t mask;
    CHECK_EQ(posix_spawnattr_init(&attr), 0);
    signal(SIGUSR1, SIG_IGN);
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    CHECK_EQ(posix_spawnattr_setsigdefault(&attr, &mask), 0);
    CHECK_EQ(posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF), 0);
    CHECK_STR(spawned(posix_spawn, "/bin/sh", &attr), expected);
    CHECK_EQ(ignored, 0);
    (void)spawned(posix_spawn, "/bin/sh", NULL);
    CHECK_EQ(ignored, 1L << (SIGUSR1 - 1));
    signal(SIGUSR1, SIG_DFL);
    sigemptyset(&mask);
    sigaddset(&mask, SIGHUP);
    CHECK_EQ(posix_spawnattr_setsigmask(&attr, &mask), 0);
    CHECK_EQ(posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK), 0);
    CHECK(strncmp(spawned(posix_spawn, "/bin/sh", &attr), "0000000000000001\n", 17) == 0);
    posix_spawnattr_destroy(&attr);
    return 0;
}

static int in_task_asks_the_shell(void *arg)
{
    (void)arg;
    char command[512], path[] = "/tmp/filch-spawn-XXXXXX";
    sigset_t before = my_mask();
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    snprintf(command, sizeof command, "{ %s; } >%s", SHOW, path);
    CHECK_EQ(system(command), 0);
    CHECK_STR(read_answer(fd), expected);
    close(fd);
    unlink(path);
    CHECK_EQ(WEXITSTATUS(system("exit 9")), 9);
    FILE *f = popen(SHOW, "r");
    CHECK(f);
    CHECK_STR(read_answer(fileno(f)), expected);
    CHECK_EQ(pclose(f), 0);
    check_same_thread_as(&before);
    errno = 0;
    CHECK(!popen("true", "neither") && errno == EINVAL);
    return 0;
}

static filch_pool *pool;

static void run_as_task(int (*fn)(void *))
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    a.large_stack = 1;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, NULL), 0);
    KIT_AWAIT(filch_task_done(t)); /* without helping: by a thread of the pool */
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    kit_beat();
}

static void a_program_that_a_task_spawns_has_the_mask_and_slack_of_a_thread_outside(void)
{
    run_as_task(in_task_spawns);
    run_as_task(in_task_spawns_with_attributes);
}

static void so_have_commands_by_system_and_popen(void)
{
    run_as_task(in_task_asks_the_shell);
}

static void a_thread_outside_is_not_changed(void)
{
    sigset_t before = my_mask();
    CHECK_STR(spawned(posix_spawn, "/bin/sh", NULL), expected);
    FILE *f = popen(SHOW, "r");
    CHECK(f);
    CHECK_STR(read_answer(fileno(f)), expected);
    CHECK_EQ(pclose(f), 0);
    CHECK_EQ(WEXITSTATUS(system("exit 9")), 9);
    sigset_t now = my_mask();
    for (int sig = 1; sig < 32; sig++)
        CHECK_EQ(sigismember(&now, sig), sigismember(&before, sig));
    CHECK_EQ(prctl(PR_GET_TIMERSLACK), 70000);
}

int main(void)
{
    sigset_t usr2;
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &usr2, NULL);
    CHECK_EQ(prctl(PR_SET_TIMERSLACK, 70000UL), 0);
    snprintf(expected, sizeof expected, "%016llx\n70000\n", 1ULL << (SIGUSR2 - 1));
    kit_watchdog();
    pool = kit_pool(2);
    RUN(a_program_that_a_task_spawns_has_the_mask_and_slack_of_a_thread_outside);
    RUN(so_have_commands_by_system_and_popen);
    RUN(a_thread_outside_is_not_changed);
    kit_destroy(pool);
    return check_report();
}
