/* test_life.c: the life of a process around pools: fork, exit, dlopen, threads that cannot be made,
 * threads that come and go, and an environment that means harm. What ends a process, or needs a
 * fresh one, runs in this program started anew with the name of a scene. */
#define _GNU_SOURCE
#include "pool_kit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/wait.h>

/* ---- threads that cannot be made ----------------------------------------------------------- */

/* Sanitizers put their own pthread_create here. */
#if !defined(FILCH_TSAN) && !defined(__SANITIZE_ADDRESS__)
#define CREATE_CAN_FAIL 1
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef CREATE_CAN_FAIL
#endif
#endif
#endif

/* Nor can a child with threads be judged under them: the thread sanitizer forbids new threads there,
 * and the address sanitizer of gcc 12 leaves its allocator locked if another thread was in it. */
#ifdef CREATE_CAN_FAIL
#define CHILD_CAN_WORK 1
#endif

#ifdef CREATE_CAN_FAIL
static uint32_t create_calls, create_fail_from = UINT32_MAX, create_fail_to = UINT32_MAX;

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr,
                   void *(*fn)(void *), void *restrict arg)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    uint32_t call = filch_add_acq_rel(&create_calls, 1u); /* order: a ticket */
    if (call >= create_fail_from && call < create_fail_to)
        return EAGAIN;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attr, fn, arg);
}

static void let_creation_fail(uint32_t from, uint32_t to)
{
    create_calls = 0;
    create_fail_from = from;
    create_fail_to = to;
}

static void use_with_waits(filch_pool *pool)
{
    static struct cell c[100];
    for (int i = 0; i < 100; i++) {
        cell_init(&c[i]);
        CHECK_EQ(filch_submit_on(pool, &c[i].job, i % 7 - 3), 0);
    }
    for (int i = 0; i < 50; i++)
        CHECK_EQ(filch_job_wait(&c[i].job, FILCH_FOREVER), 0);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    cells_check(c, 100);
    struct cell root;
    cell_init(&root);
    filch_run_on(pool, cell_run, &root);
    cells_check(&root, 1);
}

/* Nobody waits inside the pool: the threads that exist must find it, wherever it was put. */
static void use_without_help(filch_pool *pool)
{
    for (int i = 0; i < 30; i++) {
        struct cell c;
        cell_init(&c);
        CHECK_EQ(filch_submit_on(pool, &c.job, i % 7 - 3), 0);
        KIT_AWAIT(filch_job_done(&c.job));
        cells_check(&c, 1);
    }
}

static void fail_and_use(uint32_t from, uint32_t to, const filch_config *config)
{
    let_creation_fail(from, to);
    filch_pool *pool = kit_make(config);
    use_with_waits(pool);
    if (idle_figures(pool).threads > 0)
        use_without_help(pool);
    kit_destroy(pool);
    let_creation_fail(UINT32_MAX, UINT32_MAX);
}

static void a_pool_works_whichever_thread_cannot_be_made(void)
{
    for (int queue = FILCH_QUEUE_RING; queue <= FILCH_QUEUE_TRYLOCK; queue++) {
        if (queue == FILCH_QUEUE_PRIVATE)
            continue; /* a worker that is not there cannot be helped: that is what it is for */
        for (uint32_t n = 0; n < 8; n++) {
            filch_config c = kit_config(4);
            c.queue = (enum filch_queue)queue;
            fail_and_use(n, n + 1, &c);
            fail_and_use(n, UINT32_MAX, &c);
        }
    }
}

static void a_pool_without_a_single_thread_works_with_every_policy(void)
{
    for (int wake = FILCH_WAKE_ONE; wake <= FILCH_WAKE_NONE; wake++)
        for (int idle = FILCH_IDLE_PARK; idle <= FILCH_IDLE_BACKOFF; idle++) {
            filch_config c = kit_config(4);
            c.wake = (enum filch_wake)wake;
            c.idle = (enum filch_idle)idle;
            fail_and_use(0, UINT32_MAX, &c);
        }
}

static void threads_that_could_not_be_made_are_made_later(void)
{
    let_creation_fail(0, UINT32_MAX);
    filch_pool *pool = kit_pool(4);
    use_with_waits(pool);
    CHECK_EQ(idle_figures(pool).threads, 0);
    let_creation_fail(UINT32_MAX, UINT32_MAX);
    use_without_help(pool);
    CHECK(idle_figures(pool).threads > 0);
    kit_destroy(pool);
}
#endif

/* ---- fork ---------------------------------------------------------------------------------- */

static void use_pool(filch_pool *pool)
{
    static struct cell c[60];
    for (int i = 0; i < 60; i++) {
        cell_init(&c[i]);
        CHECK_EQ(filch_submit_on(pool, &c[i].job, i % 6 - 3), 0);
    }
    CHECK_EQ(filch_job_wait(&c[0].job, FILCH_FOREVER), 0);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    cells_check(c, 60);
}

KIT_UNUSED static void end_well(pid_t child)
{
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %#x", status);
    kit_beat();
}

#ifdef CHILD_CAN_WORK

/* In the child: pools are there, empty and usable; then new ones. */
static void child_uses_pools(filch_pool *inherited)
{
    alarm(KIT_SLOW ? 60 : 20); /* the watchdog stayed behind */
    use_pool(inherited);
    use_pool(filch_pool_default());
    filch_pool *own = kit_pool(3);
    use_pool(own);
    filch_pool_destroy(own);
    filch_pool_destroy(inherited);
}

static void a_child_of_fork_uses_default_inherited_and_own_pools(void)
{
    filch_pool *pool = kit_pool(4);
    use_pool(pool);
    use_pool(filch_pool_default());
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            child_uses_pools(pool);
            _exit(0);
        }
        end_well(child);
        use_pool(pool);
        use_pool(filch_pool_default());
    }
    kit_destroy(pool);
}

static void a_child_of_fork_may_be_the_first_to_use_the_default_pool(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(KIT_SLOW ? 60 : 20);
        use_pool(filch_pool_default());
        _exit(0);
    }
    end_well(child);
}

enum { CROWD = 3000 };
static struct cell crowd[CROWD];

static uint64_t crowd_runs(void)
{
    uint64_t n = 0;
    for (int i = 0; i < CROWD; i++)
        n += filch_load_relaxed(&crowd[i].runs); /* order: a figure */
    return n;
}

static void child_in_a_crowd(filch_pool *pool)
{
    uint64_t before = crowd_runs();
    child_uses_pools(pool);
    CHECK_MSG(crowd_runs() == before, "the child ran jobs of its parent");
}

static void fork_from_a_busy_pool(enum filch_queue queue)
{
    filch_config config = kit_config(4);
    config.queue = queue;
    config.ring_capacity = 64;
    for (int round = 0; round < (KIT_SLOW ? 4 : 12); round++) {
        filch_pool *pool = kit_make(&config);
        if (KIT_SLOW) { /* threads being made hold locks of the sanitizer, which a child inherits */
            idle_start_all(pool);
            KIT_AWAIT(idle_figures(pool).threads == 4 && idle_figures(pool).sleeping == 4);
        }
        for (int i = 0; i < CROWD; i++) {
            cell_init(&crowd[i]);
            CHECK_EQ(filch_submit_on(pool, &crowd[i].job, i % 6 - 3), 0);
        }
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            child_in_a_crowd(pool);
            _exit(0);
        }
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        cells_check(crowd, CROWD);
        end_well(child);
        kit_destroy(pool);
    }
}

static void fork_from_a_busy_pool_leaves_the_work_to_the_parent(void)
{
    for (int queue = FILCH_QUEUE_RING; queue <= FILCH_QUEUE_TRYLOCK; queue++)
        fork_from_a_busy_pool((enum filch_queue)queue);
}

static void a_child_of_fork_delivers_with_every_policy(void)
{
    for (int wake = FILCH_WAKE_ONE; wake <= FILCH_WAKE_NONE; wake++)
        for (int idle = FILCH_IDLE_PARK; idle <= FILCH_IDLE_BACKOFF; idle++) {
            filch_config c = kit_config(2);
            c.wake = (enum filch_wake)wake;
            c.idle = (enum filch_idle)idle;
            filch_pool *pool = kit_make(&c);
            use_pool(pool);
            pid_t child = fork();
            CHECK(child >= 0);
            if (child == 0) {
                struct cell cell;
                alarm(KIT_SLOW ? 60 : 20);
                use_pool(pool);
                cell_init(&cell);
                CHECK_EQ(filch_submit_on(pool, &cell.job, FILCH_ANYWHERE), 0);
                KIT_AWAIT(filch_job_done(&cell.job)); /* without helping */
                filch_pool_destroy(pool);
                _exit(0);
            }
            end_well(child);
            kit_destroy(pool);
        }
}

static void a_child_of_fork_destroys_a_pool_whose_job_is_the_parents(void)
{
    struct block b;
    filch_pool *pool = kit_pool(2);
    block_start(&b, pool, 1);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(KIT_SLOW ? 60 : 20);
        filch_pool_destroy(pool); /* the job that blocks is the parent's */
        _exit(0);
    }
    end_well(child);
    block_end(&b);
    kit_destroy(pool);
}

/* The C library does not look after the loader's lock in fork(): the child has it as it was. */
struct loader {
    uint32_t inside, leave;
};

static int stay_inside(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct loader *l = arg;
    (void)info;
    (void)size;
    filch_store_release(&l->inside, 1u); /* order: the lock is held */
    KIT_AWAIT(filch_load_acquire(&l->leave)); /* order: a sign only */
    return 1;
}

static void *walk_libraries(void *loader)
{
    dl_iterate_phdr(stay_inside, loader);
    return NULL;
}

static void a_child_of_fork_starts_threads_while_the_loader_is_locked(void)
{
    struct loader l = {0, 0};
    pthread_t thread;
    filch_pool *pool = kit_pool(2);
    CHECK_EQ(pthread_create(&thread, NULL, walk_libraries, &l), 0);
    KIT_AWAIT(filch_load_acquire(&l.inside)); /* order: the lock is held */
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct cell cell;
        alarm(KIT_SLOW ? 60 : 20);
        cell_init(&cell);
        CHECK_EQ(filch_submit_on(pool, &cell.job, FILCH_ANYWHERE), 0);
        KIT_AWAIT(filch_job_done(&cell.job)); /* by a thread of the pool */
        _exit(0);
    }
    end_well(child);
    filch_store_release(&l.leave, 1u); /* order: a sign only */
    CHECK_EQ(pthread_join(thread, NULL), 0);
    kit_destroy(pool);
}
#endif

/* ---- pools and threads that come and go ----------------------------------------------------- */

static void bump(void *counter)
{
    kit_count(counter);
}

static void thousands_of_pools_come_and_go_with_jobs_in_flight(void)
{
    for (size_t i = 0; i < kit_scaled(3000, 10); i++) {
        uint32_t ran = 0;
        filch_pool *pool = kit_pool((int)(i % 4) + 1);
        for (int j = 0; j < 8; j++)
            CHECK_EQ(filch_submit_detached_on(pool, bump, &ran, 0, j % 4 - 3), 0);
        kit_destroy(pool);
        CHECK_EQ(kit_raised(&ran), 8);
    }
}

static void an_unused_pool_comes_and_goes(void)
{
    for (size_t i = 0; i < kit_scaled(1000, 10); i++)
        kit_destroy(kit_pool(16));
}

struct visit {
    filch_pool *pool;
    int kind;
};

static void *visit_pool(void *arg)
{
    struct visit *v = arg;
    struct cell c;
    cell_init(&c);
    if (v->kind == 0) {
        filch_run_on(v->pool, cell_run, &c);
    } else {
        CHECK_EQ(filch_submit_on(v->pool, &c.job, v->kind % 5 - 3), 0);
        CHECK_EQ(filch_job_wait(&c.job, FILCH_FOREVER), 0);
    }
    cells_check(&c, 1);
    CHECK_EQ(filch_worker_id(), -1);
    return NULL;
}

static void foreign_threads_come_and_go_by_the_hundreds(void)
{
    enum { WAVE = 20 };
    pthread_t t[WAVE];
    struct visit v[WAVE];
    filch_pool *pool = kit_pool(3);
    for (size_t wave = 0; wave < kit_scaled(60, 4); wave++) {
        for (int i = 0; i < WAVE; i++) {
            v[i] = (struct visit){i % 2 ? pool : filch_pool_default(), i % 4};
            CHECK_EQ(pthread_create(&t[i], NULL, visit_pool, &v[i]), 0);
        }
        for (int i = 0; i < WAVE; i++)
            pthread_join(t[i], NULL);
        kit_beat();
    }
    kit_destroy(pool);
}

static void a_guest_thread_that_ended_leaves_its_seat_usable(void)
{
    filch_pool *pool = kit_pool(1);
    for (int i = 0; i < 100; i++) {
        pthread_t t;
        struct visit v = {pool, 0};
        CHECK_EQ(pthread_create(&t, NULL, visit_pool, &v), 0);
        pthread_join(t, NULL);
        use_pool(pool);
    }
    kit_destroy(pool);
}

/* ---- scenes: this program started anew ------------------------------------------------------ */

static const char *self_path;

struct outcome {
    int status;
    char out[4096], err[8192];
};

static void drain_into(int fd, char *text, size_t size)
{
    size_t used = 0;
    ssize_t n;
    while ((n = read(fd, text + used, size - 1 - used)) > 0)
        used += (size_t)n;
    text[used] = '\0';
    close(fd);
}

/* Runs a scene with one environment variable set (or none). Output is small: pipes hold it. */
static struct outcome play(const char *scene, const char *name, const char *value)
{
    static struct outcome o;
    int out[2], err[2];
    CHECK_EQ(pipe(out), 0);
    CHECK_EQ(pipe(err), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(err[1], STDERR_FILENO);
        close(out[0]);
        close(err[0]);
        unsetenv("FILCH_WORKERS");
        unsetenv("FILCH_POLICY");
        unsetenv("FILCH_STATS");
        if (name)
            setenv(name, value, 1);
        execl(self_path, self_path, scene, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    close(err[1]);
    drain_into(out[0], o.out, sizeof o.out);
    drain_into(err[0], o.err, sizeof o.err);
    CHECK_EQ(waitpid(child, &o.status, 0), child);
    kit_beat();
    return o;
}

static int lines(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void check_status(const struct outcome *o, int expected)
{
    CHECK_MSG(WIFEXITED(o->status) && WEXITSTATUS(o->status) == expected,
              "status %#x, expected exit with %d; it said: %.200s", o->status, expected, o->err);
}

static int scene_default(void)
{
    use_pool(filch_pool_default());
    printf("%d\n", filch_pool_workers(filch_pool_default()));
    return 0;
}

static int scene_one_cpu(void)
{
    cpu_set_t all, one;
    CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    return scene_default();
}

static void leave_at_once(void *unused)
{
    (void)unused;
    exit(7);
}

/* Others work while one of them ends the process. */
static int scene_exit_in_job(void)
{
    static uint32_t count;
    filch_pool *pool = filch_pool_default();
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(filch_submit_detached_on(pool, i == 300 ? leave_at_once : bump, &count, 0,
                                          i % 4 - 3), 0);
    kit_nap_us(60000000);
    return 1;
}

static void never_end(void *arg)
{
    for (;;)
        kit_count(arg);
}

static int scene_return_from_main(void)
{
    static uint32_t count;
    filch_config c = kit_config(3);
    filch_pool *own = kit_make(&c);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(filch_submit_detached_on(i % 2 ? own : filch_pool_default(), never_end, &count, 0,
                                          FILCH_ANYWHERE), 0);
    KIT_AWAIT(kit_raised(&count) > 100);
    return 3;
}

static int scene_stats(void)
{
    use_pool(filch_pool_default());
    return 0;
}

static const struct {
    const char *name;
    int (*play)(void);
} scenes[] = {
    {"default", scene_default}, {"one-cpu", scene_one_cpu},
    {"exit-in-job", scene_exit_in_job}, {"return-from-main", scene_return_from_main},
    {"stats", scene_stats},
};

static int play_scene(const char *name)
{
    alarm(KIT_SLOW ? 60 : 20);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        if (strcmp(scenes[i].name, name) == 0)
            return scenes[i].play();
    return 126;
}

static int default_workers(void)
{
    struct outcome o = play("default", NULL, NULL);
    check_status(&o, 0);
    CHECK_STR(o.err, "");
    return atoi(o.out);
}

static void the_environment_sets_the_number_of_workers(void)
{
    CHECK(default_workers() >= 1);
    for (int n = 1; n <= 9; n += 4) {
        char text[16];
        snprintf(text, sizeof text, "%d", n);
        struct outcome o = play("default", "FILCH_WORKERS", text);
        check_status(&o, 0);
        CHECK_STR(o.err, "");
        CHECK_EQ(atoi(o.out), n);
    }
}

static void a_bad_number_of_workers_is_one_line_and_the_default(void)
{
    static const char *const bad[] = {"-3", "1e99", "abc", "", "999999999999", "0", "1025", " 2",
                                      "2 ", "+2", "0x2", "2\n", "\x1b[31m2", "%n%s"};
    int expected = default_workers();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct outcome o = play("default", "FILCH_WORKERS", bad[i]);
        check_status(&o, 0);
        CHECK_MSG(lines(o.err) == 1, "\"%s\": not one line: %s", bad[i], o.err);
        CHECK(strstr(o.err, "FILCH_WORKERS"));
        CHECK_EQ(atoi(o.out), expected);
    }
}

static void check_printable_line(const char *text)
{
    size_t n = strlen(text);
    CHECK(n > 0 && text[n - 1] == '\n');
    for (size_t i = 0; i + 1 < n; i++)
        CHECK_MSG(text[i] >= ' ' && text[i] <= '~', "byte %d reached the output", text[i]);
}

static void a_bad_policy_is_one_printable_line_and_the_default(void)
{
    static char endless[5000];
    memset(endless, 'z', sizeof endless - 1);
    const char *const bad[] = {"garbage", "victim=", "steal=one,victim=\x1b[2J\x07", "a\nb\nc\n",
                               "\xff\xfe=\x80", "spin=-1", ",,,,", "%s%n%d", endless};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct outcome o = play("default", "FILCH_POLICY", bad[i]);
        check_status(&o, 0);
        CHECK_MSG(lines(o.err) == 1, "\"%.40s\": not one line: %s", bad[i], o.err);
        CHECK(strstr(o.err, "FILCH_POLICY"));
        check_printable_line(o.err);
    }
}

static void a_good_policy_from_the_environment_is_silent(void)
{
    static const char *const good[] = {"victim=one", "queue=shared,idle=yield", "wake=none",
                                       "queue=private,wake=all", "ends=reverse", "join=help",
                                       "steal=floor,ring=2,attempts=1,backoff_us=1..10000"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct outcome o = play("default", "FILCH_POLICY", good[i]);
        check_status(&o, 0);
        CHECK_STR(o.err, "");
    }
}

static void an_affinity_of_one_cpu_gives_one_worker(void)
{
    struct outcome o = play("one-cpu", NULL, NULL);
    check_status(&o, 0);
    CHECK_EQ(atoi(o.out), 1);
}

static void exit_inside_a_job_is_safe(void)
{
    for (int i = 0; i < (KIT_SLOW ? 10 : 50); i++) {
        struct outcome o = play("exit-in-job", "FILCH_WORKERS", i % 2 ? "4" : "1");
        check_status(&o, 7);
        CHECK_STR(o.err, "");
    }
}

static void exit_inside_a_job_with_statistics_is_safe(void)
{
    for (int i = 0; i < (KIT_SLOW ? 5 : 20); i++) {
        struct outcome o = play("exit-in-job", "FILCH_STATS", "1");
        check_status(&o, 7);
        CHECK(strstr(o.err, "executed"));
    }
}

static void return_from_main_with_jobs_running_is_safe(void)
{
    for (int i = 0; i < (KIT_SLOW ? 5 : 30); i++) {
        struct outcome o = play("return-from-main", NULL, NULL);
        check_status(&o, 3);
        CHECK_STR(o.err, "");
    }
}

static void statistics_are_printed_at_exit_if_asked_for(void)
{
    static const char *const columns[] = {"worker", "executed", "forked", "stolen", "attempts",
                                          "failed", "skipped", "parks", "suspended", "wasted spin"};
    struct outcome o = play("stats", "FILCH_STATS", "1");
    check_status(&o, 0);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        CHECK_MSG(strstr(o.err, columns[i]), "no column %s in: %s", columns[i], o.err);
    CHECK(strstr(o.err, "default"));
    CHECK(strstr(o.err, "\nall "));
    o = play("stats", "FILCH_STATS", "0");
    check_status(&o, 0);
    CHECK_STR(o.err, "");
}

/* ---- the shared library --------------------------------------------------------------------- */

struct loaded {
    void *handle;
    int (*create)(filch_pool **, const filch_config *);
    void (*destroy)(filch_pool *);
    int (*submit)(filch_pool *, void (*)(void *), void *, void (*)(void *), int);
    int (*wait)(filch_pool *, int64_t);
    filch_pool *(*standard)(void);
};

static int load(struct loaded *l)
{
    char path[4096];
    snprintf(path, sizeof path - 32, "%s", self_path);
    for (int up = 0; up < 3; up++) { /* tests/unit/test_life below the build directory */
        char *slash = strrchr(path, '/');
        if (!slash)
            return 0;
        *slash = '\0';
    }
    strcat(path, "/libfilch.so");
    l->handle = access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!l->handle)
        return 0;
    *(void **)&l->create = dlsym(l->handle, "filch_pool_create");
    *(void **)&l->destroy = dlsym(l->handle, "filch_pool_destroy");
    *(void **)&l->submit = dlsym(l->handle, "filch_submit_detached_on");
    *(void **)&l->wait = dlsym(l->handle, "filch_pool_wait");
    *(void **)&l->standard = dlsym(l->handle, "filch_pool_default");
    CHECK(l->create && l->destroy && l->submit && l->wait && l->standard);
    return 1;
}

static void the_shared_library_can_be_loaded_used_and_closed(void)
{
    for (int round = 0; round < 10; round++) {
        struct loaded l;
        filch_pool *pool;
        uint32_t ran = 0;
        filch_config c = kit_config(4);
        if (!load(&l)) {
            printf("   (no shared library beside this build: nothing to load)\n");
            return;
        }
        CHECK_EQ(l.create(&pool, &c), 0);
        for (int i = 0; i < 50; i++) {
            CHECK_EQ(l.submit(pool, bump, &ran, 0, FILCH_ANYWHERE), 0);
            CHECK_EQ(l.submit(l.standard(), bump, &ran, 0, FILCH_ANYWHERE), 0);
        }
        CHECK_EQ(l.wait(l.standard(), FILCH_FOREVER), 0);
        l.destroy(pool);
        CHECK_EQ(kit_raised(&ran), 100);
        dlclose(l.handle); /* the default pool's threads sleep in its code */
        kit_nap_us(2000);
        kit_beat();
    }
}

int main(int argc, char **argv)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    CHECK(n > 0);
    self_path = path;
    if (argc > 1)
        return play_scene(argv[1]);
    kit_watchdog();
#ifdef CHILD_CAN_WORK
    RUN(a_child_of_fork_may_be_the_first_to_use_the_default_pool);
    RUN(a_child_of_fork_uses_default_inherited_and_own_pools);
    RUN(fork_from_a_busy_pool_leaves_the_work_to_the_parent);
    RUN(a_child_of_fork_delivers_with_every_policy);
    RUN(a_child_of_fork_destroys_a_pool_whose_job_is_the_parents);
    RUN(a_child_of_fork_starts_threads_while_the_loader_is_locked);
#endif
#ifdef CREATE_CAN_FAIL
    RUN(a_pool_works_whichever_thread_cannot_be_made);
    RUN(a_pool_without_a_single_thread_works_with_every_policy);
    RUN(threads_that_could_not_be_made_are_made_later);
#endif
    RUN(thousands_of_pools_come_and_go_with_jobs_in_flight);
    RUN(an_unused_pool_comes_and_goes);
    RUN(foreign_threads_come_and_go_by_the_hundreds);
    RUN(a_guest_thread_that_ended_leaves_its_seat_usable);
    RUN(the_environment_sets_the_number_of_workers);
    RUN(a_bad_number_of_workers_is_one_line_and_the_default);
    RUN(a_bad_policy_is_one_printable_line_and_the_default);
    RUN(a_good_policy_from_the_environment_is_silent);
    RUN(an_affinity_of_one_cpu_gives_one_worker);
    RUN(exit_inside_a_job_is_safe);
    RUN(exit_inside_a_job_with_statistics_is_safe);
    RUN(return_from_main_with_jobs_running_is_safe);
    RUN(statistics_are_printed_at_exit_if_asked_for);
    RUN(the_shared_library_can_be_loaded_used_and_closed);
    return check_report();
}
