/* os_cpu.c: how many CPUs this process may use: affinity mask and cgroup quota.
 *
 * A quota is set on any directory on the way from the root of the cgroup tree to the process's
 * own, in `cpu.max` (version 2) or `cpu.cfs_quota_us` and `cpu.cfs_period_us` (version 1); the
 * smallest one holds. Two files say where they are:
 *   /proc/self/cgroup      id:controllers:path      version 2 has id 0 and no controllers
 *   /proc/self/mountinfo   .. .. .. root mountpoint .. [..] - type source options
 * `root` is the directory of the cgroup tree that is mounted, often not its top. Both paths are
 * relative to the reader's cgroup namespace and start with "/.." for each level above it. What
 * the three cases of a mount mean is at cpu_mount_relation.
 *
 * Everything read here is taken for hostile: lines and paths are bounded, what does not parse is
 * no limit. Nothing is allocated.
 */
#define _GNU_SOURCE
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CPU_PATH 2048
#define CPU_LINE 8192
#define CPU_NO_LIMIT INT64_MAX

/* ---- affinity ----------------------------------------------------------------------------- */

int os_cpu_affinity(void)
{
    /* Room for 65,536 CPUs, eight times what the kernel can be built for: no need to grow. */
    union {
        cpu_set_t set;
        unsigned char bytes[8192];
    } mask;
    int saved = errno, count = 0;
    if (sched_getaffinity(0, sizeof mask, &mask.set) == 0)
        count = CPU_COUNT_S(sizeof mask, &mask.set);
    else
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    errno = saved;
    return count > 0 ? count : 1;
}

/* ---- reading ------------------------------------------------------------------------------ */

struct cpu_file {
    int fd;
    size_t have, at; /* bytes in the buffer, and of them consumed */
    char text[CPU_LINE];
};

static bool cpu_file_open(struct cpu_file *f, const char *path)
{
    f->have = f->at = 0;
    do
        f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (f->fd < 0 && errno == EINTR);
    return f->fd >= 0;
}

static bool cpu_file_fill(struct cpu_file *f)
{
    memmove(f->text, f->text + f->at, f->have - f->at);
    f->have -= f->at;
    f->at = 0;
    ssize_t n;
    do
        n = read(f->fd, f->text + f->have, sizeof f->text - 1 - f->have);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return false;
    f->have += (size_t)n;
    return true;
}

/* The next line, ended by a zero byte, or null at the end. A line that is longer than the buffer
 * is passed over. */
static char *cpu_file_line(struct cpu_file *f)
{
    bool skip = false;
    for (;;) {
        char *line = f->text + f->at;
        char *end = memchr(line, '\n', f->have - f->at);
        if (end) {
            *end = 0;
            f->at = (size_t)(end + 1 - f->text);
            if (!skip)
                return line;
            skip = false;
        } else if (f->have - f->at == sizeof f->text - 1) {
            f->at = f->have;
            skip = true;
        } else if (!cpu_file_fill(f)) {
            f->text[f->have] = 0; /* the last line may lack its end */
            line = f->text + f->at;
            bool some = f->have > f->at && !skip;
            f->at = f->have;
            return some ? line : NULL;
        }
    }
}

/* Digits only; -1 for anything else, 2^63 and up included. */
static int64_t cpu_number(const char *s, const char **rest)
{
    int64_t n = 0;
    if (*s < '0' || *s > '9')
        return -1;
    for (; *s >= '0' && *s <= '9'; s++) {
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *s - '0', &n))
            return -1;
    }
    *rest = s;
    return n;
}

/* Reads `dir`/`name`, one short line. */
static bool cpu_read(const char *dir, const char *name, char *out, size_t size)
{
    char path[CPU_PATH + 64];
    int n = snprintf(path, sizeof path, "%s/%s", dir, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, out, size - 1);
    close(fd);
    if (got <= 0)
        return false;
    out[got] = 0;
    out[strcspn(out, "\n")] = 0;
    return true;
}

/* ---- one directory ------------------------------------------------------------------------ */

static int64_t cpu_milli(int64_t quota, int64_t period)
{
    if (quota <= 0 || period <= 0 || quota > INT64_MAX / 1000)
        return CPU_NO_LIMIT;
    int64_t milli = quota * 1000 / period;
    return milli ? milli : 1;
}

/* "max 100000" or "150000 100000" */
static int64_t cpu_limit_v2(const char *dir)
{
    char text[64];
    const char *rest;
    if (!cpu_read(dir, "cpu.max", text, sizeof text))
        return CPU_NO_LIMIT;
    int64_t quota = cpu_number(text, &rest);
    if (quota < 0 || *rest != ' ')
        return CPU_NO_LIMIT;
    int64_t period = cpu_number(rest + 1, &rest);
    return *rest ? CPU_NO_LIMIT : cpu_milli(quota, period);
}

static int64_t cpu_read_number(const char *dir, const char *name)
{
    char text[64];
    const char *rest = text;
    if (!cpu_read(dir, name, text, sizeof text))
        return -1;
    int64_t n = cpu_number(text, &rest);
    return *rest ? -1 : n;
}

/* A quota of -1 is none. */
static int64_t cpu_limit_v1(const char *dir)
{
    int64_t quota = cpu_read_number(dir, "cpu.cfs_quota_us");
    return quota < 0 ? CPU_NO_LIMIT : cpu_milli(quota, cpu_read_number(dir, "cpu.cfs_period_us"));
}

static int64_t cpu_limit(int version, const char *dir)
{
    return version == 2 ? cpu_limit_v2(dir) : cpu_limit_v1(dir);
}

/* ---- where we are in a hierarchy ----------------------------------------------------------- */

struct cpu_cgroup {
    int version;
    bool present;        /* the process is in such a hierarchy, at `path`                      */
    bool inside;         /* a mount of it contains the process                                 */
    int64_t limit;       /* smallest one on the way to the process, over those mounts          */
    int64_t mount_limit; /* smallest one at mounts that do not contain it                      */
    char path[CPU_PATH];
};

static bool cpu_list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (;;) {
        size_t n = strcspn(list, ",");
        if (n == length && !memcmp(list, word, n))
            return true;
        if (!list[n])
            return false;
        list += n + 1;
    }
}

static void cpu_cgroup_init(struct cpu_cgroup *g, int version)
{
    g->version = version;
    g->present = g->inside = false;
    g->limit = g->mount_limit = CPU_NO_LIMIT;
}

static void cpu_cgroup_line(struct cpu_cgroup *v1, struct cpu_cgroup *v2, char *line)
{
    char *list = strchr(line, ':');
    char *path = list ? strchr(list + 1, ':') : NULL;
    if (!path || path[1] != '/' || strlen(path + 1) >= CPU_PATH)
        return;
    *list++ = *path++ = 0;
    struct cpu_cgroup *g = !*list ? v2 : cpu_list_has(list, "cpu") ? v1 : NULL;
    if (!g || g->present || (g == v2 && strcmp(line, "0")))
        return;
    g->present = true;
    strcpy(g->path, path);
}

/* ---- how a mount lies to us ----------------------------------------------------------------- */

/* Passes over leading "/.."; returns how many there were. */
static int cpu_ups(const char **path)
{
    int n = 0;
    while (!strncmp(*path, "/..", 3) && ((*path)[3] == '/' || !(*path)[3])) {
        *path += 3;
        n++;
    }
    return n;
}

static bool cpu_path_odd(const char *path)
{
    size_t n = strlen(path);
    return strstr(path, "/../") || (n >= 3 && !strcmp(path + n - 3, "/.."));
}

/* Where `path` lies below a mount of `root`: the part to append to the mount point, if known.
 *   same level, root is a prefix:      the rest of the path
 *   root starts above the namespace:   the mount point is an ancestor, but the names between it
 *                                      and the namespace cannot be known: "" (the mount point)
 *   anything else:                     null, not inside */
static const char *cpu_mount_relation(const char *root, const char *path)
{
    int root_ups = cpu_ups(&root), path_ups = cpu_ups(&path);
    size_t n = strlen(root);
    while (n && root[n - 1] == '/')
        n--;
    if (cpu_path_odd(root) || cpu_path_odd(path))
        return NULL;
    if (root_ups > path_ups)
        return n ? NULL : "";
    if (root_ups < path_ups || strncmp(root, path, n) || (path[n] && path[n] != '/'))
        return NULL;
    return path + n;
}

/* The smallest limit from directory `dir` (of the given length) down `below`. */
static int64_t cpu_walk(int version, char *dir, size_t length, const char *below)
{
    int64_t limit = cpu_limit(version, dir);
    while (*below) {
        size_t n = 1 + strcspn(below + 1, "/");
        if (length + n >= CPU_PATH)
            break;
        memcpy(dir + length, below, n);
        length += n;
        dir[length] = 0;
        below += n;
        int64_t here = cpu_limit(version, dir);
        limit = here < limit ? here : limit;
    }
    return limit;
}

static void cpu_mount_apply(struct cpu_cgroup *g, const char *top, const char *root,
                            const char *point)
{
    char dir[CPU_PATH];
    int n = snprintf(dir, sizeof dir, "%s%s", top, point);
    if (!g->present || n < 0 || (size_t)n >= sizeof dir)
        return;
    const char *below = cpu_mount_relation(root, g->path);
    int64_t limit = cpu_walk(g->version, dir, (size_t)n, below ? below : "");
    int64_t *slot = below ? &g->limit : &g->mount_limit;
    g->inside |= below != NULL;
    *slot = limit < *slot ? limit : *slot;
}

/* ---- mountinfo ---------------------------------------------------------------------------- */

static bool cpu_octal(const char *s)
{
    return s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
           s[3] >= '0' && s[3] <= '7';
}

/* Undoes the kernel's \040 and the like, in place. */
static void cpu_unescape(char *s)
{
    char *out = s;
    while (*s) {
        if (cpu_octal(s)) {
            *out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
            s += 4;
        } else {
            *out++ = *s++;
        }
    }
    *out = 0;
}

static void cpu_mount_line(struct cpu_cgroup *v1, struct cpu_cgroup *v2, const char *top,
                           char *line)
{
    char *tail = strstr(line, " - ");
    if (!tail)
        return;
    *tail = 0;
    char *save, *type = strtok_r(tail + 3, " ", &save);
    (void)strtok_r(NULL, " ", &save); /* source */
    char *options = strtok_r(NULL, " ", &save);
    struct cpu_cgroup *g = NULL;
    if (type && !strcmp(type, "cgroup2"))
        g = v2;
    else if (type && !strcmp(type, "cgroup") && options && cpu_list_has(options, "cpu"))
        g = v1;
    char *field = g ? strtok_r(line, " ", &save) : NULL;
    for (int i = 0; field && i < 3; i++)
        field = strtok_r(NULL, " ", &save);
    char *point = field ? strtok_r(NULL, " ", &save) : NULL;
    if (!point || field[0] != '/' || point[0] != '/')
        return;
    cpu_unescape(field);
    cpu_unescape(point);
    cpu_mount_apply(g, top, field, point);
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void cpu_each_line(const char *top, const char *name, struct cpu_cgroup *v1,
                          struct cpu_cgroup *v2, bool mounts)
{
    char path[CPU_PATH];
    struct cpu_file file;
    int n = snprintf(path, sizeof path, "%s%s", top, name);
    if (n < 0 || (size_t)n >= sizeof path || !cpu_file_open(&file, path))
        return;
    for (char *line; (line = cpu_file_line(&file));) {
        if (mounts)
            cpu_mount_line(v1, v2, top, line);
        else
            cpu_cgroup_line(v1, v2, line);
    }
    close(file.fd);
}

/* If no mount contains us, the one we were given is still the best sign of our limits. */
static int64_t cpu_cgroup_limit(const struct cpu_cgroup *g)
{
    return g->inside ? g->limit : g->mount_limit;
}

int64_t os_cpu_quota_at(const char *root)
{
    struct cpu_cgroup v1, v2;
    const char *top = strcmp(root, "/") ? root : "";
    int saved = errno;
    cpu_cgroup_init(&v1, 1);
    cpu_cgroup_init(&v2, 2);
    cpu_each_line(top, "/proc/self/cgroup", &v1, &v2, false);
    cpu_each_line(top, "/proc/self/mountinfo", &v1, &v2, true);
    errno = saved;
    int64_t a = cpu_cgroup_limit(&v1), b = cpu_cgroup_limit(&v2);
    int64_t limit = a < b ? a : b;
    return limit == CPU_NO_LIMIT ? 0 : limit;
}

int64_t os_cpu_quota_milli(void)
{
    return os_cpu_quota_at("/");
}

int os_cpu_count(void)
{
    int count = os_cpu_affinity();
    int64_t quota = os_cpu_quota_milli();
    int64_t whole = quota / 1000 + (quota % 1000 != 0);
    return whole && whole < count ? (int)whole : count;
}
