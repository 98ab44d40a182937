/* os_trace.c: looking at other flows from outside: memory that may be gone, symbols, signals.
 *
 * Memory is copied by the kernel, which answers with an error where a load would fault; and a copy
 * of a word that another thread writes is not a data race of this program's. Where there is no such
 * call, bytes are copied by hand: then the caller has to be right about what is mapped.
 */
#define _GNU_SOURCE
#include "os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- memory ------------------------------------------------------------------------------- */

/* Not instrumented: what is copied may be written meanwhile, or be poisoned. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined")))
static void os_peek_by_hand(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
        __asm__ __volatile__("" ::: "memory"); /* keeps it from becoming a call of memcpy */
    }
}

int os_peek(void *to, const void *from, size_t n)
{
    struct iovec here = {to, n}, there = {(void *)(uintptr_t)from, n};
    int saved = errno;
    ssize_t r = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    int error = r < 0 ? errno : 0;
    errno = saved;
    if (r == (ssize_t)n)
        return 0;
    if (error != ENOSYS && error != EPERM)
        return -EFAULT;
    os_peek_by_hand(to, from, n);
    return 0;
}

/* ---- code --------------------------------------------------------------------------------- */

static int os_code_of(struct dl_phdr_info *info, size_t info_size, void *arg)
{
    struct os_code *c = arg;
    (void)info_size;
    for (int i = 0; i < info->dlpi_phnum && c->count < OS_CODE_RANGES; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        c->range[c->count].low = info->dlpi_addr + p->p_vaddr;
        c->range[c->count].high = info->dlpi_addr + p->p_vaddr + p->p_memsz;
        c->count++;
    }
    return 0;
}

void os_code_load(struct os_code *c)
{
    c->count = 0;
    (void)dl_iterate_phdr(os_code_of, c);
}

#if defined(__x86_64__)
/* E8 with four bytes of distance, or FF /2 with an operand of one to six bytes. */
static int os_follows_call(uintptr_t pc)
{
    enum { BACK = 7 };
    unsigned char code[BACK];
    if (os_peek(code, (const void *)(pc - BACK), BACK) != 0)
        return 0;
    if (code[BACK - 5] == 0xe8)
        return 1;
    for (int length = 2; length <= BACK; length++)
        if (code[BACK - length] == 0xff && (code[BACK - length + 1] >> 3 & 7) == 2)
            return 1;
    return 0;
}
#elif defined(__aarch64__)
static int os_follows_call(uintptr_t pc)
{
    uint32_t code;
    if (pc % 4 != 0 || os_peek(&code, (const void *)(pc - 4), 4) != 0)
        return 0;
    return (code & 0xfc000000u) == 0x94000000u || (code & 0xfffffc1fu) == 0xd63f0000u; /* bl, blr */
}
#else
static int os_follows_call(uintptr_t pc)
{
    return pc != 0;
}
#endif

int os_code_is_return(const struct os_code *c, uintptr_t pc)
{
    for (size_t i = 0; i < c->count; i++)
        if (pc >= c->range[i].low + 8 && pc < c->range[i].high)
            return os_follows_call(pc);
    return 0;
}

static const char *os_file_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : 0;
    return slash ? slash + 1 : path && *path ? path : "?";
}

size_t os_symbol(uintptr_t pc, char *text, size_t size)
{
    Dl_info info;
    int n;
    if (dladdr((void *)pc, &info) == 0)
        n = snprintf(text, size, "0x%zx", (size_t)pc);
    else if (info.dli_sname)
        n = snprintf(text, size, "%s+0x%zx (%s)", info.dli_sname, (size_t)(pc - (uintptr_t)info.dli_saddr),
                     os_file_name(info.dli_fname));
    else
        n = snprintf(text, size, "%s+0x%zx", os_file_name(info.dli_fname),
                     (size_t)(pc - (uintptr_t)info.dli_fbase));
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

/* ---- the process -------------------------------------------------------------------------- */

int os_write_all(int fd, const void *bytes, size_t n)
{
    int saved = errno, error = 0;
    while (n > 0 && !error) {
        ssize_t r = write(fd, bytes, n);
        if (r > 0) {
            bytes = (const char *)bytes + r;
            n -= (size_t)r;
        } else if (r == 0 || errno != EINTR) {
            error = r == 0 ? EIO : errno;
        }
    }
    errno = saved;
    return -error;
}

_Static_assert(OS_SIGQUIT == SIGQUIT, "as the kernel has it");

int os_signal_catch(int signo, void (*handler)(int signo))
{
    struct sigaction a;
    int saved = errno;
    memset(&a, 0, sizeof a);
    a.sa_handler = handler ? handler : SIG_DFL;
    a.sa_flags = SA_RESTART | SA_ONSTACK;
    sigfillset(&a.sa_mask);
    int error = sigaction(signo, &a, NULL) == 0 ? 0 : errno;
    errno = saved;
    return -error;
}
