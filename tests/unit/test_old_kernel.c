/* A kernel that refuses: older, or with a filter, as containers have them. Each claim is checked in
 * a child under a seccomp filter that lets one system call fail. */
#define _GNU_SOURCE
#include "../forking.h"
#include "os/os.h"

#include <filch/dump.h>
#include <filch/io.h>
#include <filch/task.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { GUARD_INSTALL = 102, SKIPPED = 77 };

static void filter(struct sock_filter *code, size_t n)
{
    struct sock_fprog program = {(unsigned short)n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(SKIPPED);
}

/* From here on `call` fails with `error` if its argument `which` (0 for the first) is `value`. */
static void refuse_if(int call, unsigned which, int value, int error)
{
    unsigned argument = (unsigned)offsetof(struct seccomp_data, args) + which * 8;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument), /* little-endian: the low half */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    filter(code, sizeof code / sizeof *code);
}

/* The same whatever the arguments are. */
static void refuse(int call, int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    filter(code, sizeof code / sizeof *code);
}

static void judge(const char *what, void (*body)(void))
{
    struct ending e = in_child(body);
    if (WIFEXITED(e.status) && WEXITSTATUS(e.status) == SKIPPED)
        printf("skipped: no filter for %s here\n", what);
    else
        CHECK_MSG(WIFEXITED(e.status) && WEXITSTATUS(e.status) == 0, "%s: ended with %#x: %s", what,
                  e.status, e.text);
}

/* ---- guards ---------------------------------------------------------------------------------- */

static void fault_is_what_we_want(int sig)
{
    _exit(sig == SIGSEGV ? 0 : 1);
}

static void guard_body(void)
{
    char *p;
    size_t page = os_page_size();
    refuse_if(SYS_madvise, 2, GUARD_INSTALL, EINVAL);
    CHECK_EQ(os_pages_reserve((void **)&p, 3 * page, page), 0);
    errno = EPROTO;
    CHECK_EQ(os_pages_guard(p + page, page), 0);
    CHECK_EQ(errno, EPROTO);
    p[0] = p[page - 1] = p[2 * page] = 1; /* the neighbours are as before */
    signal(SIGSEGV, fault_is_what_we_want);
    p += page;
    __asm__ __volatile__("" : "+r"(p) : : "memory");
    *p = 1;
    _exit(2);
}

static void without_guard_regions_a_guard_is_a_protected_page(void)
{
    judge("madvise", guard_body);
}

static void no_guard_body(void)
{
    char *p;
    size_t page = os_page_size();
    CHECK_EQ(os_pages_reserve((void **)&p, page, page), 0);
    refuse(SYS_madvise, EINVAL);
    refuse(SYS_mprotect, ENOMEM); /* as when there are too many mappings */
    errno = EPROTO;
    CHECK_EQ(os_pages_guard(p, page), -ENOMEM);
    CHECK_EQ(errno, EPROTO);
}

static void a_guard_that_cannot_be_made_is_an_error(void)
{
    judge("mprotect", no_guard_body);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void seed_body(void)
{
    refuse(SYS_getrandom, ENOSYS);
    errno = EPROTO;
    uint64_t a = os_random_seed();
    os_sleep_ns(1000);
    uint64_t b = os_random_seed();
    CHECK(a != b);
    CHECK_EQ(errno, EPROTO);
}

static void without_getrandom_seeds_still_differ(void)
{
    judge("getrandom", seed_body);
}

static void affinity_body(void)
{
    refuse(SYS_sched_getaffinity, EPERM);
    errno = EPROTO;
    CHECK_EQ(os_cpu_affinity(), sysconf(_SC_NPROCESSORS_ONLN));
    CHECK(os_cpu_count() >= 1 && os_cpu_count() <= os_cpu_affinity());
    CHECK_EQ(errno, EPROTO);
}

static void without_an_affinity_mask_all_cpus_that_are_online_count(void)
{
    judge("sched_getaffinity", affinity_body);
}

static void barrier_body(void)
{
    refuse(SYS_membarrier, EPERM);
    errno = EPROTO;
    CHECK_EQ(os_membarrier_init(), -EPERM);
    CHECK_EQ(os_membarrier(), -EPERM);
    CHECK_EQ(errno, EPROTO);
}

static void a_membarrier_that_is_refused_says_so(void)
{
    judge("membarrier", barrier_body);
}

/* A call that succeeds and offers nothing: Linux 4.3 to 4.13 had no private expedited barriers. */
static void empty_offer_body(void)
{
    refuse(SYS_membarrier, 0);
    CHECK_EQ(os_membarrier_init(), -ENOSYS);
}

static void a_kernel_that_offers_no_expedited_barrier_has_none(void)
{
    judge("membarrier", empty_offer_body);
}

static size_t nothing_is_ours(const void *address, char *text, size_t size)
{
    (void)address, (void)text, (void)size;
    return 0;
}

static void half_body(void)
{
    struct sigaction now;
    signal(SIGSEGV, fault_is_what_we_want);
    refuse_if(SYS_rt_sigaction, 0, SIGBUS, EPERM);
    errno = EPROTO;
    CHECK_EQ(os_overflow_install(nothing_is_ours), -EPERM);
    CHECK_EQ(errno, EPROTO);
    CHECK_EQ(sigaction(SIGSEGV, NULL, &now), 0);
    CHECK(!(now.sa_flags & SA_SIGINFO) && now.sa_handler == fault_is_what_we_want);
    os_overflow_remove();
}

static void half_a_reporter_is_taken_back(void)
{
    judge("rt_sigaction", half_body);
}

static void no_room_body(void)
{
    void *p = &p, *cookie = &p;
    stack_t off = {.ss_flags = SS_DISABLE};
    CHECK_EQ(sigaltstack(&off, NULL), 0);
    refuse(SYS_mmap, ENOMEM);
    errno = EPROTO;
    CHECK_EQ(os_pages_reserve(&p, 1 << 20, 1), -ENOMEM);
    CHECK(p == &p);
    CHECK_EQ(os_overflow_thread_enter(&cookie), -ENOMEM);
    CHECK(cookie == NULL);
    CHECK_EQ(errno, EPROTO);
}

static void without_address_space_nothing_is_reserved(void)
{
    judge("mmap", no_room_body);
}

static void altstack_body(void)
{
    void *cookie = &cookie;
    stack_t off = {.ss_flags = SS_DISABLE};
    CHECK_EQ(sigaltstack(&off, NULL), 0);
    refuse(SYS_sigaltstack, EPERM);
    errno = EPROTO;
    CHECK_EQ(os_overflow_thread_enter(&cookie), -EPERM);
    CHECK(cookie == NULL);
    os_overflow_thread_leave(cookie);
    os_overflow_thread_keep(); /* gives up silently: an overflow has no name then */
    os_overflow_thread_keep();
    CHECK_EQ(errno, EPROTO);
}

static void a_thread_without_an_alternate_stack_goes_on(void)
{
    judge("sigaltstack", altstack_body);
}

static void peek_with(int error)
{
    char from[100], to[100] = {0};
    memset(from, 'f', sizeof from);
    refuse(SYS_process_vm_readv, error);
    errno = EPROTO;
    CHECK_EQ(os_peek(to, from, sizeof from), 0);
    CHECK_EQ(memcmp(to, from, sizeof from), 0);
    CHECK_EQ(errno, EPROTO);
}

static void peek_absent_body(void) { peek_with(ENOSYS); }
static void peek_forbidden_body(void) { peek_with(EPERM); }

static void without_process_vm_readv_memory_is_copied_by_hand(void)
{
    judge("process_vm_readv", peek_absent_body);
    judge("process_vm_readv", peek_forbidden_body);
}

static void poll_without(int call, int error)
{
    os_poll poll;
    refuse(call, error);
    int next = dup(STDERR_FILENO);
    CHECK(next >= 0 && close(next) == 0);
    errno = EPROTO;
    CHECK_EQ(os_poll_open(&poll), -error);
    CHECK_EQ(errno, EPROTO);
    CHECK_EQ(dup(STDERR_FILENO), next); /* what was made of it was closed again */
}

static void no_epoll_body(void) { poll_without(SYS_epoll_create1, ENOSYS); }
static void no_event_body(void) { poll_without(SYS_eventfd2, ENOMEM); }
static void no_watch_body(void) { poll_without(SYS_epoll_ctl, ENOSPC); }

static void half_a_poll_is_taken_back(void)
{
    judge("epoll_create1", no_epoll_body);
    judge("eventfd2", no_event_body);
    judge("epoll_ctl", no_watch_body);
}

static int sleeps_long(void *begun)
{
    filch_store_release((uint32_t *)begun, 1u);
    return filch_sleep_ns(INT64_C(3600000000000));
}

/* The task has begun; whether it sleeps by now, the dump has to say. */
static void dump_until_it_shows(filch_pool *pool, const char *line)
{
    char text[16384] = "";
    int fd = memfd_create("dump", 0);
    CHECK(fd >= 0);
    while (!strstr(text, line)) {
        CHECK_EQ(ftruncate(fd, 0), 0);
        CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
        CHECK_EQ(filch_pool_dump(pool, fd), 0);
        ssize_t n = pread(fd, text, sizeof text - 1, 0);
        CHECK(n >= 0);
        text[n] = '\0';
    }
    close(fd);
}

static void dump_body(void)
{
    uint32_t begun = 0;
    filch_task *t;
    refuse(SYS_process_vm_readv, EPERM);
    filch_pool *pool = pool_of(1, FILCH_JOIN_SUSPEND);
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.pool = pool;
    a.name = "sleeper";
    CHECK_EQ(filch_spawn_with(&t, &a, sleeps_long, &begun), 0);
    await_flag(&begun);
    dump_until_it_shows(pool, "\"sleeper\" waiting in filch_sleep");
}

static void without_process_vm_readv_a_dump_shows_who_waits(void)
{
    judge("process_vm_readv", dump_body);
}

/* ---- one family of addresses ------------------------------------------------------------------- */

static void reaches(int listener, const char *host)
{
    int64_t soon = filch_clock_ns() + INT64_C(10000000000);
    int fd = filch_dial_tcp(host, filch_socket_port(listener), soon);
    CHECK_MSG(fd >= 0, "%s at %d: %d", host, listener, fd);
    filch_close(fd);
}

static void four_body(void)
{
    refuse_if(SYS_socket, 0, AF_INET6, EAFNOSUPPORT);
    int listener = filch_listen_tcp(NULL, 0, 16), udp = filch_bind_udp(NULL, 0);
    CHECK(listener >= 0 && udp >= 0);
    reaches(listener, "127.0.0.1");
    reaches(listener, "localhost");
    int port = filch_socket_port(listener);
    filch_close(listener);
    CHECK_EQ(filch_dial_tcp("localhost", port, FILCH_FOREVER), -ECONNREFUSED); /* not: no such family */
    CHECK_EQ(filch_listen_tcp("::1", 0, 16), -EAFNOSUPPORT);
}

static void without_ipv6_null_is_every_address_of_ipv4(void)
{
    judge("IPv6", four_body);
}

static void six_body(void)
{
    int fd = filch_listen_tcp("::1", 0, 1);
    if (fd < 0)
        _exit(SKIPPED);
    filch_close(fd);
    refuse_if(SYS_socket, 0, AF_INET, EAFNOSUPPORT);
    int listener = filch_listen_tcp("localhost", 0, 16);
    CHECK(listener >= 0);
    reaches(listener, "localhost");
    reaches(listener, "::1");
}

static void without_ipv4_localhost_is_that_of_ipv6(void)
{
    judge("IPv4", six_body);
}

int main(void)
{
    RUN(without_guard_regions_a_guard_is_a_protected_page);
    RUN(a_guard_that_cannot_be_made_is_an_error);
    RUN(without_getrandom_seeds_still_differ);
    RUN(without_an_affinity_mask_all_cpus_that_are_online_count);
    RUN(a_membarrier_that_is_refused_says_so);
    RUN(a_kernel_that_offers_no_expedited_barrier_has_none);
    RUN(half_a_reporter_is_taken_back);
    RUN(without_address_space_nothing_is_reserved);
    RUN(half_a_poll_is_taken_back);
    RUN(without_process_vm_readv_memory_is_copied_by_hand);
    RUN(without_process_vm_readv_a_dump_shows_who_waits);
    if (!WITH_ASAN) /* which cannot do without that call itself */
        RUN(a_thread_without_an_alternate_stack_goes_on);
    RUN(without_ipv6_null_is_every_address_of_ipv4);
    RUN(without_ipv4_localhost_is_that_of_ipv6);
    return check_report();
}
