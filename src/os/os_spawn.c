/* os_spawn.c: posix_spawn, posix_spawnp, system and popen, as a task calls them.
 *
 * A thread of the library blocks signals and has a timer slack of its own, and a child inherits both from
 * the thread that makes it: the program that a task starts would not end by SIGTERM. fork() has handlers
 * for that (os_at_fork), these four have none, so they are defined here, before those of the C library.
 * Called by another thread they only pass the call on.
 *
 * Only in the shared library: a program that is linked statically has no other posix_spawn to pass a call
 * on to.
 *
 * posix_spawn sets the mask in the child. The other two cannot be told: while they run, the calling thread
 * has the mask that its child is to have. */
#define _GNU_SOURCE
#include "os/os_thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OS_SPAWN_API __attribute__((visibility("default")))

typedef int spawn_fn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attr, char *const argv[], char *const env[]);

/* Those of the C library. Written when the library is loaded, or by the first call before that: later the
 * loader's lock may be held by a thread that a child of fork() does not have. */
static struct {
    spawn_fn *spawn, *spawnp;
    int (*system)(const char *command);
    FILE *(*popen)(const char *command, const char *mode);
} libc;

static void __attribute__((constructor)) find_libc(void)
{
    if (libc.popen)
        return;
    *(void **)&libc.spawn = dlsym(RTLD_NEXT, "posix_spawn");
    *(void **)&libc.spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
    *(void **)&libc.system = dlsym(RTLD_NEXT, "system");
    *(void **)&libc.popen = dlsym(RTLD_NEXT, "popen");
}

/* A copy of `attr` with the mask, unless the caller has set one. */
static int attr_outside(posix_spawnattr_t *out, const posix_spawnattr_t *attr, const sigset_t *mask)
{
    short flags = 0;
    int rc = 0;
    if (attr)
        *out = *attr; /* plain data in all C libraries there are; not destroyed: it is the caller's */
    else
        rc = posix_spawnattr_init(out);
    if (rc == 0)
        rc = posix_spawnattr_getflags(out, &flags);
    if (rc != 0 || flags & POSIX_SPAWN_SETSIGMASK)
        return rc;
    (void)posix_spawnattr_setsigmask(out, mask);
    return posix_spawnattr_setflags(out, (short)(flags | POSIX_SPAWN_SETSIGMASK));
}

static int spawn(spawn_fn *real, pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attr, char *const argv[], char *const env[])
{
    const struct os_outside *o = os_thread_outside();
    posix_spawnattr_t own;
    if (!o)
        return real(pid, path, actions, attr, argv, env);
    int rc = attr_outside(&own, attr, &o->mask);
    if (rc != 0)
        return rc;
    os_slack_set(o->slack_ns);
    rc = real(pid, path, actions, &own, argv, env);
    os_slack_set(OS_THREAD_SLACK_NS);
    return rc;
}

OS_SPAWN_API int posix_spawn(pid_t *restrict pid, const char *restrict path,
                             const posix_spawn_file_actions_t *restrict actions,
                             const posix_spawnattr_t *restrict attr, char *const argv[restrict],
                             char *const env[restrict])
{
    find_libc();
    return spawn(libc.spawn, pid, path, actions, attr, argv, env);
}

OS_SPAWN_API int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                              const posix_spawn_file_actions_t *restrict actions,
                              const posix_spawnattr_t *restrict attr, char *const argv[restrict],
                              char *const env[restrict])
{
    find_libc();
    return spawn(libc.spawnp, pid, file, actions, attr, argv, env);
}

/* As the thread outside is; returns the mask to go back to. */
static sigset_t go_outside(const struct os_outside *o)
{
    sigset_t before;
    os_slack_set(o->slack_ns);
    (void)pthread_sigmask(SIG_SETMASK, &o->mask, &before);
    return before;
}

static void come_back(const sigset_t *before)
{
    int saved = errno;
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
    os_slack_set(OS_THREAD_SLACK_NS);
    errno = saved;
}

OS_SPAWN_API int system(const char *command)
{
    const struct os_outside *o = os_thread_outside();
    find_libc();
    if (!o)
        return libc.system(command);
    sigset_t before = go_outside(o);
    int status = libc.system(command);
    come_back(&before);
    return status;
}

OS_SPAWN_API FILE *popen(const char *command, const char *mode)
{
    const struct os_outside *o = os_thread_outside();
    find_libc();
    if (!o)
        return libc.popen(command, mode);
    sigset_t before = go_outside(o);
    FILE *f = libc.popen(command, mode);
    come_back(&before);
    return f;
}
