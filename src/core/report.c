#include "core/report.h"
#include "core/child.h"
#include "os/os.h"

#include <filch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void report_line(const char *format, va_list args)
{
    char line[512];
    int n = vsnprintf(line, sizeof line - 1, format, args);
    if (n < 0)
        return;
    if ((size_t)n > sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n] = '\n';
    os_print(line, (size_t)n + 1);
}

void report_warning(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report_line(format, args);
    va_end(args);
}

void report_once(uint32_t *said, const char *format, ...)
{
    uint32_t not_yet = 0;
    va_list args;
    if (!filch_cas_relaxed(said, &not_yet, 1u)) /* order: a flag; nothing comes with it */
        return;
    va_start(args, format);
    report_line(format, args);
    va_end(args);
}

/* In the child of a task no other mistake is worth a word. */
static void report_child(const char *call)
{
    if (!child_of_task)
        return;
    report_warning("filch: %s: the child of a task may only call exec or _exit; to use filch in a child, "
                   "fork outside of tasks", call);
    abort();
}

void report_misuse(const char *call, const char *text)
{
    report_child(call);
    report_warning("filch: %s: %s", call, text);
    abort();
}

void report_misuse_named(const char *call, const char *text, const char *name)
{
    report_child(call);
    report_warning("filch: %s: %s (task \"%s\")", call, text, name ? name : "?");
    abort();
}

__attribute__((cold, noinline)) static void suspect(const char *call, int64_t deadline)
{
    static uint32_t said;
    report_once(&said, "filch: %s: the deadline %lld lies before this program began: a duration? "
                "use filch_after_ns", call, (long long)deadline);
}

void report_duration(const char *call, int64_t deadline)
{
    if (__builtin_expect(deadline < os_began_ns, 0) && deadline > FILCH_NOW)
        suspect(call, deadline);
}
