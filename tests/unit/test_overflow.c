/* The reporter of stack overflow: what it says, and whom it leaves alone. */
#define _GNU_SOURCE
#include "../check.h"
#include "os/context.h"
#include "os/os.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define SIZE ((size_t)256 << 10)

static char *stack; /* the guard is its first page */
static os_context home, other;

/* ---- a child per case, because most of them end in a signal ---------------------------------- */

struct result {
    int status;
    char text[600]; /* what it wrote to stderr */
};

static struct result in_child(void (*body)(void))
{
    struct result r = {0};
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        dup2(ends[1], STDERR_FILENO);
        for (int sig = 1; sig < 32; sig++)
            signal(sig, SIG_DFL); /* a sanitizer may have its own */
        body();
        _exit(0);
    }
    close(ends[1]);
    size_t have = 0;
    for (ssize_t n; (n = read(ends[0], r.text + have, sizeof r.text - 1 - have)) > 0;)
        have += (size_t)n;
    close(ends[0]);
    while (waitpid(pid, &r.status, 0) < 0)
        CHECK_EQ(errno, EINTR);
    return r;
}

/* An emulator adds lines of its own. */
static int reported(struct result r)
{
    static const char line[] = "stack of fiber \"x\" overflowed\n";
    return !strncmp(r.text, line, sizeof line - 1);
}

static int died_of(struct result r, int sig)
{
    return WIFSIGNALED(r.status) && WTERMSIG(r.status) == sig;
}

static int exited(struct result r, int code)
{
    return WIFEXITED(r.status) && WEXITSTATUS(r.status) == code;
}

static size_t lookup(const void *address, char *text, size_t size)
{
    const char *p = address;
    if (p < stack || p >= stack + os_page_size())
        return 0;
    return (size_t)snprintf(text, size, "stack of fiber \"x\" overflowed\n");
}

static void install(void)
{
    void *cookie;
    CHECK_EQ(os_overflow_install(lookup), 0);
    CHECK_EQ(os_overflow_thread_enter(&cookie), 0);
}

static void touch(void *at)
{
    __asm__ __volatile__("" : "+r"(at) : : "memory");
    *(char *)at = 1;
    __asm__ __volatile__("" : : "r"(at) : "memory");
}

/* A guard that is not ours. */
static void touch_foreign(void)
{
    void *p;
    CHECK_EQ(os_pages_reserve(&p, os_page_size(), 1), 0);
    CHECK_EQ(os_pages_guard(p, os_page_size()), 0);
    touch(p);
}

static void exit_42(int sig, siginfo_t *info, void *context)
{
    _exit(sig == SIGSEGV && info && context ? 42 : 1);
}
static void exit_43(int sig) { _exit(sig == SIGSEGV ? 43 : 1); }

static void handle(void (*full)(int, siginfo_t *, void *), void (*plain)(int))
{
    struct sigaction a = {0};
    if (full) {
        a.sa_sigaction = full;
        a.sa_flags = SA_SIGINFO;
    } else {
        a.sa_handler = plain;
    }
    CHECK_EQ(sigaction(SIGSEGV, &a, NULL), 0);
}

/* ---- ours ----------------------------------------------------------------------------------- */

static __attribute__((noinline)) unsigned recurse(unsigned n)
{
    char frame[200];
    memset(frame, (int)n, sizeof frame);
    __asm__ __volatile__("" : : "r"(frame) : "memory");
    if (n == 1u << 30) /* far below any stack */
        return 0;
    return recurse(n + 1) + (unsigned char)frame[n % 200] + 1;
}

static void overflows(void *pass)
{
    (void)pass;
    recurse(0);
}

static void overflow_body(void)
{
    install();
    os_context_thread(&home);
    os_context_make(&other, stack, SIZE, overflows);
    os_context_switch(&home, &other, NULL);
}

static void an_overflow_is_reported_and_aborts(void)
{
    struct result r = in_child(overflow_body);
    CHECK_MSG(reported(r), "it said: %s", r.text);
    CHECK(died_of(r, SIGABRT));
}

static void on_thread(void *arg)
{
    void *cookie;
    CHECK_EQ(os_overflow_thread_enter(&cookie), 0);
    touch(arg);
}

static void thread_body(void)
{
    os_thread t;
    CHECK_EQ(os_overflow_install(lookup), 0);
    if (os_thread_start(&t, on_thread, stack, "t") == 0)
        os_thread_join(t);
}

static void other_threads_report_too(void)
{
    struct result r = in_child(thread_body);
    CHECK_MSG(reported(r), "it said: %s", r.text);
    CHECK(died_of(r, SIGABRT));
}

/* ---- not ours ------------------------------------------------------------------------------- */

static void foreign_default_body(void) { install(), touch_foreign(); }

static void foreign_ignored_body(void)
{
    signal(SIGSEGV, SIG_IGN);
    install();
    raise(SIGSEGV); /* what was ignored stays ignored */
    os_print("alive", 5);
    touch_foreign();
}

static void foreign_full_body(void) { handle(exit_42, NULL), install(), touch_foreign(); }
static void foreign_plain_body(void) { handle(NULL, exit_43), install(), touch_foreign(); }
static void sent_body(void) { install(), raise(SIGSEGV); }

static void other_faults_go_to_the_handler_before_us(void)
{
    CHECK(died_of(in_child(foreign_default_body), SIGSEGV));
    CHECK(exited(in_child(foreign_full_body), 42));
    CHECK(exited(in_child(foreign_plain_body), 43));
}

static void an_ignored_signal_stays_ignored_but_a_fault_kills(void)
{
    struct result r = in_child(foreign_ignored_body);
    CHECK_MSG(!strncmp(r.text, "alive", 5), "it said: %s", r.text);
    CHECK(died_of(r, SIGSEGV));
}

static void a_signal_that_was_sent_does_what_it_did(void)
{
    CHECK(died_of(in_child(sent_body), SIGSEGV));
}

/* ---- coming and going ----------------------------------------------------------------------- */

static int ours_is_in_place(void)
{
    struct sigaction now;
    CHECK_EQ(sigaction(SIGSEGV, NULL, &now), 0);
    return !((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == exit_42);
}

static void count_body(void)
{
    handle(exit_42, NULL);
    CHECK_EQ(os_overflow_install(lookup), 0);
    CHECK_EQ(os_overflow_install(lookup), 0);
    os_overflow_remove();
    CHECK(ours_is_in_place());
    os_overflow_remove();
    CHECK(!ours_is_in_place());
    os_overflow_remove(); /* one too many does nothing */
    CHECK_EQ(os_overflow_install(lookup), 0);
    CHECK(ours_is_in_place());
    os_overflow_remove();
    touch(stack);
}

static void the_last_remove_restores_the_handler_before_us(void)
{
    struct result r = in_child(count_body);
    CHECK_STR(r.text, "");
    CHECK(exited(r, 42));
}

static struct sigaction below;
static int on_top_calls;

static void calls_below(int sig, siginfo_t *info, void *context)
{
    if (++on_top_calls > 1)
        _exit(1);
    below.sa_sigaction(sig, info, context);
}

static void buried_body(void)
{
    struct sigaction a = {.sa_sigaction = calls_below, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    handle(exit_42, NULL);
    install();
    CHECK_EQ(sigaction(SIGSEGV, &a, &below), 0);
    os_overflow_remove();
    CHECK_EQ(os_overflow_install(lookup), 0);
    touch_foreign();
}

static void a_handler_on_top_of_ours_makes_no_circle(void)
{
    CHECK(exited(in_child(buried_body), 42));
}

static char user_alternate[1 << 16];

static void keep_body(void)
{
    stack_t user = {.ss_sp = user_alternate, .ss_size = sizeof user_alternate}, now;
    void *cookie;
    CHECK_EQ(sigaltstack(&user, NULL), 0);
    CHECK_EQ(os_overflow_thread_enter(&cookie), 0);
    os_overflow_thread_leave(cookie);
    CHECK_EQ(sigaltstack(NULL, &now), 0);
    CHECK(now.ss_sp == user_alternate && !(now.ss_flags & SS_DISABLE));
}

static void leave_body(void)
{
    stack_t off = {.ss_flags = SS_DISABLE}, now;
    void *cookie;
    CHECK_EQ(sigaltstack(&off, NULL), 0);
    CHECK_EQ(os_overflow_thread_enter(&cookie), 0);
    CHECK_EQ(sigaltstack(NULL, &now), 0);
    CHECK(!(now.ss_flags & SS_DISABLE) && now.ss_size >= 32 << 10);
    os_overflow_thread_leave(cookie);
    CHECK_EQ(sigaltstack(NULL, &now), 0);
    CHECK(now.ss_flags & SS_DISABLE);
}

static void a_thread_keeps_the_alternate_stack_it_has(void)
{
    CHECK(exited(in_child(keep_body), 0));
}

static void an_alternate_stack_is_set_up_and_taken_down(void)
{
    CHECK(exited(in_child(leave_body), 0));
}

int main(void)
{
    CHECK_EQ(os_pages_reserve((void **)&stack, SIZE, 1), 0);
    CHECK_EQ(os_pages_guard(stack, os_page_size()), 0);
    RUN(an_overflow_is_reported_and_aborts);
    RUN(other_threads_report_too);
    RUN(other_faults_go_to_the_handler_before_us);
    RUN(an_ignored_signal_stays_ignored_but_a_fault_kills);
    RUN(a_signal_that_was_sent_does_what_it_did);
    RUN(the_last_remove_restores_the_handler_before_us);
    RUN(a_handler_on_top_of_ours_makes_no_circle);
    RUN(a_thread_keeps_the_alternate_stack_it_has);
    RUN(an_alternate_stack_is_set_up_and_taken_down);
    return check_report();
}
