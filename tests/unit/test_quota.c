/* The cgroup CPU quota, read from file trees as containers and services have them. */
#define _GNU_SOURCE
#include "../check.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>

static char root[64];

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void tree_end(void)
{
    CHECK_EQ(nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void put_bytes(const char *name, const char *text, size_t length)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, text, length), (ssize_t)length);
    close(fd);
}

static void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

static void tree_begin(const char *cgroup, const char *mountinfo)
{
    const char *tmp = getenv("TMPDIR");
    CHECK(snprintf(root, sizeof root, "%s/filch-quota-XXXXXX", tmp ? tmp : "/tmp") <
          (int)sizeof root);
    CHECK(mkdtemp(root) == root);
    if (cgroup)
        put("/proc/self/cgroup", cgroup);
    if (mountinfo)
        put("/proc/self/mountinfo", mountinfo);
}

static int64_t quota(void) { return os_cpu_quota_at(root); }

#define MOUNT_V2 "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define MOUNT_OTHER "21 28 0:19 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
#define MOUNT_V1(root) "35 25 0:30 " root " /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu\n"

/* ---- version 2 ------------------------------------------------------------------------------ */

static void v2_limit_at_the_root_of_the_mount_counts(void)
{
    tree_begin("0::/\n", MOUNT_OTHER MOUNT_V2);
    put("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    CHECK_EQ(quota(), 1500);
    tree_end();
}

static void v2_limit_of_the_own_directory_counts(void)
{
    tree_begin("0::/app.slice/web.service\n", MOUNT_OTHER MOUNT_V2);
    put("/sys/fs/cgroup/app.slice/web.service/cpu.max", "50000 100000\n");
    CHECK_EQ(quota(), 500);
    tree_end();
}

static void v2_limit_of_an_ancestor_counts(void)
{
    tree_begin("0::/a/b/c\n", MOUNT_V2);
    put("/sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
    CHECK_EQ(quota(), 2500);
    put("/sys/fs/cgroup/a/b/cpu.max", "20000 10000\n");
    CHECK_EQ(quota(), 2000);
    tree_end();
}

static void v2_limit_of_a_sibling_does_not_count(void)
{
    tree_begin("0::/a/b\n", MOUNT_V2);
    put("/sys/fs/cgroup/a/bb/cpu.max", "10000 100000\n");
    put("/sys/fs/cgroup/a/b/d/cpu.max", "10000 100000\n");
    CHECK_EQ(quota(), 0);
    tree_end();
}

static void max_is_no_limit(void)
{
    tree_begin("0::/\n", MOUNT_V2);
    put("/sys/fs/cgroup/cpu.max", "max 100000\n");
    CHECK_EQ(quota(), 0);
    tree_end();
}

/* ---- version 1 ------------------------------------------------------------------------------ */

static void put_v1(const char *dir, const char *quota_us, const char *period_us)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", dir);
    put(path, quota_us);
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
    put(path, period_us);
}

static void v1_limit_of_an_ancestor_counts(void)
{
    tree_begin("7:cpuset:/x\n3:cpu:/batch/job\n1:name=systemd:/\n", MOUNT_V1("/"));
    put_v1("/sys/fs/cgroup/cpu", "-1\n", "100000\n");
    put_v1("/sys/fs/cgroup/cpu/batch", "300000\n", "100000\n");
    put_v1("/sys/fs/cgroup/cpu/batch/job", "-1\n", "100000\n");
    CHECK_EQ(quota(), 3000);
    put_v1("/sys/fs/cgroup/cpu/batch/job", "25000\n", "50000\n");
    CHECK_EQ(quota(), 500);
    tree_end();
}

static void v1_controllers_mounted_together_are_found(void)
{
    tree_begin("4:cpu,cpuacct:/job\n5:memory:/job\n",
               "36 25 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
               "35 25 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
    put_v1("/sys/fs/cgroup/cpu,cpuacct/job", "175000\n", "100000\n");
    CHECK_EQ(quota(), 1750);
    tree_end();
}

static void cpuset_and_cpuacct_are_not_cpu(void)
{
    tree_begin("4:cpuset:/job\n5:cpuacct:/job\n",
               "36 25 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
               "35 25 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n");
    put_v1("/sys/fs/cgroup/cpuset/job", "100000\n", "100000\n");
    put_v1("/sys/fs/cgroup/cpuacct/job", "100000\n", "100000\n");
    CHECK_EQ(quota(), 0);
    tree_end();
}

static void in_a_hybrid_tree_the_smaller_limit_holds(void)
{
    tree_begin("3:cpu:/job\n0::/unit\n",
               MOUNT_V1("/") "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put_v1("/sys/fs/cgroup/cpu/job", "300000\n", "100000\n");
    CHECK_EQ(quota(), 3000);
    put("/sys/fs/cgroup/unified/unit/cpu.max", "200000 100000\n");
    CHECK_EQ(quota(), 2000);
    tree_end();
}

/* ---- containers ----------------------------------------------------------------------------- */

static void a_container_sees_its_own_directory_mounted(void)
{
    tree_begin("3:cpu:/docker/4f2a/inner\n", MOUNT_V1("/docker/4f2a"));
    put_v1("/sys/fs/cgroup/cpu", "600000\n", "100000\n");
    put_v1("/sys/fs/cgroup/cpu/inner", "150000\n", "100000\n");
    CHECK_EQ(quota(), 1500);
    tree_end();
}

static void the_root_of_a_mount_matches_whole_names_only(void)
{
    tree_begin("3:cpu:/docker/4f2ab\n",
               MOUNT_V1("/docker/4f2a") "50 1 0:30 / /host/cpu rw - cgroup cgroup rw,cpu\n");
    put_v1("/sys/fs/cgroup/cpu", "100000\n", "100000\n");
    put_v1("/host/cpu/docker/4f2ab", "500000\n", "100000\n");
    CHECK_EQ(quota(), 5000);
    tree_end();
}

static void a_mount_from_above_the_namespace_is_an_ancestor(void)
{
    tree_begin("0::/\n", "30 23 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/cgroup/cpu.max", "350000 100000\n");
    CHECK_EQ(quota(), 3500);
    tree_end();
}

static void a_process_outside_its_namespace_is_matched_level_by_level(void)
{
    tree_begin("0::/../../pod/c2\n",
               "30 23 0:26 /../../pod /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/cgroup/c2/cpu.max", "120000 100000\n");
    CHECK_EQ(quota(), 1200);
    tree_end();
}

static void a_path_outside_of_every_mount_takes_the_limit_of_the_mount(void)
{
    tree_begin("0::/../other\n", MOUNT_V2);
    put("/sys/fs/cgroup/cpu.max", "220000 100000\n");
    put("/sys/fs/cgroup/other/cpu.max", "10000 100000\n");
    put("/sys/fs/other/cpu.max", "10000 100000\n");
    CHECK_EQ(quota(), 2200);
    tree_end();
}

static void escapes_in_a_mount_point_are_undone(void)
{
    tree_begin("0::/a b\n",
               "30 23 0:26 / /mnt/my\\040cgroup\\134x rw - cgroup2 cgroup2 rw\n");
    put("/mnt/my cgroup\\x/a b/cpu.max", "130000 100000\n");
    CHECK_EQ(quota(), 1300);
    tree_end();
}

/* ---- hostile input -------------------------------------------------------------------------- */

static void missing_files_are_no_limit(void)
{
    tree_begin(NULL, NULL);
    CHECK_EQ(quota(), 0);
    put("/proc/self/cgroup", "0::/a\n");
    CHECK_EQ(quota(), 0);
    put("/proc/self/mountinfo", MOUNT_V2);
    CHECK_EQ(quota(), 0);
    put("/sys/fs/cgroup/cpu.cfs_quota_us", "100000\n");
    CHECK_EQ(quota(), 0);
    tree_end();
}

static void what_is_not_a_quota_is_no_limit(void)
{
    static const char *const bad[] = {
        "", "\n", " ", "max", "100000", "100000\n", "100000 ", "100000 0", "0 100000", "-1 100000",
        "100000 -5", "1e5 100000", "0x10 0x10", "100000 100000 7", "100000  100000", "+5 1",
        "99999999999999999999 100000", "9223372036854775807 1", "100000 99999999999999999999999",
        "\xff\xfe\x01", "100000\t100000",
    };
    tree_begin("0::/\n", MOUNT_V2);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put("/sys/fs/cgroup/cpu.max", bad[i]);
        CHECK_MSG(quota() == 0, "\"%s\" was taken for a quota", bad[i]);
    }
    tree_end();
}

static void extreme_quotas_stay_in_range(void)
{
    tree_begin("0::/\n", MOUNT_V2);
    put("/sys/fs/cgroup/cpu.max", "1000 9223372036854775807\n");
    CHECK_EQ(quota(), 1); /* not zero: that would be no limit */
    put("/sys/fs/cgroup/cpu.max", "9223372036854775 1\n");
    CHECK_EQ(quota(), INT64_C(9223372036854775000));
    tree_end();
}

static void v1_with_only_one_of_its_files_is_no_limit(void)
{
    tree_begin("3:cpu:/\n", MOUNT_V1("/"));
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
    CHECK_EQ(quota(), 0);
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "\n");
    CHECK_EQ(quota(), 0);
    tree_end();
}

static void broken_lines_are_passed_over(void)
{
    tree_begin(":\n::\n0\n0:\n0::\n0::x\n9::/wrong\n:::::\n\n0::/a\n0::/second\n",
               "\n-\n - \n - cgroup2\n1 2 3 - cgroup2 x y\n1 2 3 / - cgroup2 x y\n"
               "1 2 3 root point rw - cgroup2 x y\n"
               "35 25 0:30 / /x rw - cgroup cgroup\n"
               "30 23 0:26 / /sys/fs/cgroup\\04 rw - cgroup2 c rw\n" MOUNT_V2);
    put("/sys/fs/cgroup/a/cpu.max", "140000 100000");
    CHECK_EQ(quota(), 1400);
    tree_end();
}

static void very_long_lines_are_passed_over(void)
{
    static char text[100000];
    memset(text, 'a', sizeof text);
    memcpy(text, "0::/", 4);
    text[20000] = '\n';
    memcpy(text + 20001, "0::/a\n", 6);
    tree_begin(NULL, NULL);
    put_bytes("/proc/self/cgroup", text, 20007);
    memset(text, ' ', sizeof text);
    size_t n = sizeof text - sizeof MOUNT_V2 - 1;
    text[n++] = '\n';
    memcpy(text + n, MOUNT_V2, sizeof MOUNT_V2 - 1);
    put_bytes("/proc/self/mountinfo", text, n + sizeof MOUNT_V2 - 1);
    put("/sys/fs/cgroup/a/cpu.max", "160000 100000\n");
    CHECK_EQ(quota(), 1600);
    tree_end();
}

static void random_bytes_do_no_harm(void)
{
    static const char alphabet[] = "0123/:,-. \\\ncgroup2cpu..";
    unsigned char text[600];
    uint32_t x = 12345;
    for (int round = 0; round < 300; round++) {
        tree_begin(NULL, NULL);
        const char *const names[] = {"/proc/self/cgroup", "/proc/self/mountinfo"};
        for (int f = 0; f < 2; f++) {
            for (size_t i = 0; i < sizeof text; i++) {
                x = x * 1664525u + 1013904223u;
                text[i] = (unsigned char)(round & 1 ? x >> 24 : (unsigned)alphabet[(x >> 16) % 24]);
            }
            put_bytes(names[f], (const char *)text, sizeof text);
        }
        CHECK_EQ(quota(), 0);
        tree_end();
    }
}

int main(void)
{
    RUN(v2_limit_at_the_root_of_the_mount_counts);
    RUN(v2_limit_of_the_own_directory_counts);
    RUN(v2_limit_of_an_ancestor_counts);
    RUN(v2_limit_of_a_sibling_does_not_count);
    RUN(max_is_no_limit);
    RUN(v1_limit_of_an_ancestor_counts);
    RUN(v1_controllers_mounted_together_are_found);
    RUN(cpuset_and_cpuacct_are_not_cpu);
    RUN(in_a_hybrid_tree_the_smaller_limit_holds);
    RUN(a_container_sees_its_own_directory_mounted);
    RUN(the_root_of_a_mount_matches_whole_names_only);
    RUN(a_mount_from_above_the_namespace_is_an_ancestor);
    RUN(a_process_outside_its_namespace_is_matched_level_by_level);
    RUN(a_path_outside_of_every_mount_takes_the_limit_of_the_mount);
    RUN(escapes_in_a_mount_point_are_undone);
    RUN(missing_files_are_no_limit);
    RUN(what_is_not_a_quota_is_no_limit);
    RUN(extreme_quotas_stay_in_range);
    RUN(v1_with_only_one_of_its_files_is_no_limit);
    RUN(broken_lines_are_passed_over);
    RUN(very_long_lines_are_passed_over);
    RUN(random_bytes_do_no_harm);
    return check_report();
}
