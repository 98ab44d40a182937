/* Handlers that were there before the reporter of stack overflow, and return: they see the signal as
 * if the reporter were not there, and the program goes on as if it had not been interrupted. */
#define _GNU_SOURCE
#include "../forking.h"
#include "os/os.h"

#include <stdbool.h>
#include <sys/mman.h>

static struct {
    char *page; /* mended by the handler */
    int calls, sig, blocked_self, blocked_usr1;
    const void *address;
} seen;

static size_t not_ours(const void *address, char *text, size_t size)
{
    (void)address, (void)text, (void)size;
    return 0;
}

static void look(int sig)
{
    sigset_t now;
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
    seen.calls++;
    seen.sig = sig;
    seen.blocked_self = sigismember(&now, sig);
    seen.blocked_usr1 = sigismember(&now, SIGUSR1);
    CHECK_EQ(mprotect(seen.page, os_page_size(), PROT_READ | PROT_WRITE), 0);
    errno = ERANGE; /* a handler that does not care */
}

static void look_with_info(int sig, siginfo_t *info, void *context)
{
    CHECK(context);
    seen.address = info->si_addr;
    look(sig);
}

static void before_us(int flags, bool with_info)
{
    struct sigaction a = {.sa_flags = flags};
    sigemptyset(&a.sa_mask);
    sigaddset(&a.sa_mask, SIGUSR1);
    if (with_info) {
        a.sa_sigaction = look_with_info;
        a.sa_flags |= SA_SIGINFO;
    } else {
        a.sa_handler = look;
    }
    CHECK_EQ(sigaction(SIGSEGV, &a, NULL), 0);
    CHECK_EQ(sigaction(SIGBUS, &a, NULL), 0);
    CHECK_EQ(os_overflow_install(not_ours), 0);
}

static void fault(void)
{
    seen.page = mmap(NULL, os_page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(seen.page != MAP_FAILED);
    char *p = seen.page;
    __asm__ __volatile__("" : "+r"(p) : : "memory");
    *p = 7;
    __asm__ __volatile__("" : : "r"(p) : "memory");
    CHECK_EQ(*p, 7);
}

static void mask_is_as_before(void)
{
    sigset_t now;
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
    for (int sig = 1; sig < 32; sig++)
        CHECK_EQ(sigismember(&now, sig), 0);
}

static void ends_well(void (*body)(void))
{
    struct ending e = in_child(body);
    CHECK_MSG(WIFEXITED(e.status) && WEXITSTATUS(e.status) == 0, "ended with %#x: %s", e.status, e.text);
}

static void mended_body(void)
{
    before_us(0, true);
    errno = EPROTO;
    fault();
    CHECK_EQ(errno, EPROTO); /* the reporter keeps it, whatever the one below does */
    CHECK_EQ(seen.calls, 1);
    CHECK_EQ(seen.sig, SIGSEGV);
    CHECK(seen.address == seen.page);
    CHECK(seen.blocked_self && seen.blocked_usr1);
    mask_is_as_before();
}

static void a_fault_that_a_handler_mends_is_no_fault(void)
{
    ends_well(mended_body);
}

static void plain_body(void)
{
    before_us(0, false);
    fault();
    CHECK_EQ(seen.calls, 1);
    CHECK(seen.blocked_self && seen.blocked_usr1);
    mask_is_as_before();
}

static void a_handler_without_information_is_called_as_one(void)
{
    ends_well(plain_body);
}

static void nodefer_body(void)
{
    before_us(SA_NODEFER, true);
    fault();
    CHECK_EQ(seen.calls, 1);
    CHECK(!seen.blocked_self && seen.blocked_usr1);
    mask_is_as_before();
}

static void a_handler_that_wants_to_be_interrupted_may_be(void)
{
    ends_well(nodefer_body);
}

static void bus_body(void)
{
    before_us(0, true);
    seen.page = mmap(NULL, os_page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    raise(SIGBUS);
    CHECK_EQ(seen.calls, 1);
    CHECK_EQ(seen.sig, SIGBUS);
}

static void each_signal_goes_to_its_own_handler(void)
{
    ends_well(bus_body);
}

static void ignored_body(void)
{
    signal(SIGSEGV, SIG_IGN);
    CHECK_EQ(os_overflow_install(not_ours), 0);
    errno = EPROTO;
    for (int i = 0; i < 3; i++)
        raise(SIGSEGV);
    CHECK_EQ(errno, EPROTO);
    mask_is_as_before();
}

static void what_is_sent_and_ignored_does_nothing_however_often(void)
{
    ends_well(ignored_body);
}

int main(void)
{
    RUN(a_fault_that_a_handler_mends_is_no_fault);
    RUN(a_handler_without_information_is_called_as_one);
    RUN(a_handler_that_wants_to_be_interrupted_may_be);
    RUN(each_signal_goes_to_its_own_handler);
    RUN(what_is_sent_and_ignored_does_nothing_however_often);
    return check_report();
}
