/* check.h: all that a test program needs.
 *
 *     static void an_empty_deque_gives_nothing(void) { CHECK_EQ(size(), 0); }
 *     int main(void) { RUN(an_empty_deque_gives_nothing); return check_report(); }
 *
 * A test is a function whose name is its claim. The CHECKs may be used on any thread and on any
 * fiber: a failure is one write to stderr, then abort (nothing is unwound, so a core dump and a
 * debugger see the state that failed). RUN and check_report belong to the main thread.
 */
#ifndef FILCH_TESTS_CHECK_H
#define FILCH_TESTS_CHECK_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK_UNUSED_ __attribute__((unused))

CHECK_UNUSED_ static const char *check_running = "before the first RUN";
CHECK_UNUSED_ static int check_passed;
CHECK_UNUSED_ static int check_output = STDERR_FILENO; /* another while a test looks at stderr */

/* Small on purpose: a test may fail on a fiber with little stack. */
enum { CHECK_TEXT_ = 512 };

CHECK_UNUSED_ __attribute__((cold, noinline, noreturn, format(printf, 3, 4)))
static void check_failed(const char *file, int line, const char *format, ...)
{
    char text[CHECK_TEXT_];
    int n = snprintf(text, sizeof text, "%s:%d: in %s: ", file, line, check_running);
    if (n < 0 || n > CHECK_TEXT_ - 2)
        n = 0;
    va_list args;
    va_start(args, format);
    int m = vsnprintf(text + n, sizeof text - 1 - (size_t)n, format, args);
    va_end(args);
    n += m < 0 ? 0 : m;
    if (n > CHECK_TEXT_ - 2)
        n = CHECK_TEXT_ - 2;
    text[n++] = '\n';
    if (write(check_output, text, (size_t)n) < 0)
        abort(); /* there is nowhere else to say it */
    abort();
}

CHECK_UNUSED_ static void check_equal(const char *file, int line, const char *text, intmax_t a,
                                      intmax_t b)
{
    if (a != b)
        check_failed(file, line, "CHECK_EQ(%s): %jd is not %jd", text, a, b);
}

CHECK_UNUSED_ static void check_string(const char *file, int line, const char *text,
                                       const char *a, const char *b)
{
    if (!a || !b || strcmp(a, b) != 0)
        check_failed(file, line, "CHECK_STR(%s): \"%s\" is not \"%s\"", text, a ? a : "(null)",
                     b ? b : "(null)");
}

#define CHECK(cond)                                                                               \
    do {                                                                                          \
        if (!(cond))                                                                              \
            check_failed(__FILE__, __LINE__, "CHECK(%s)", #cond);                                 \
    } while (0)

/* Integers and pointers of any width, compared and printed as intmax_t. */
#define CHECK_EQ(a, b) check_equal(__FILE__, __LINE__, #a ", " #b, (intmax_t)(a), (intmax_t)(b))

#define CHECK_STR(a, b) check_string(__FILE__, __LINE__, #a ", " #b, (a), (b))

/* The message says more than the condition: CHECK_MSG(n == 1, "item %d ran %d times", i, n). */
#define CHECK_MSG(cond, ...)                                                                      \
    do {                                                                                          \
        if (!(cond))                                                                              \
            check_failed(__FILE__, __LINE__, __VA_ARGS__);                                        \
    } while (0)

CHECK_UNUSED_ static void check_run(const char *name, void (*test)(void))
{
    check_running = name;
    test();
    check_running = "after the last RUN";
    check_passed++;
    printf("ok %s\n", name);
    fflush(stdout); /* so that a child made by fork() does not print it again */
}

#define RUN(test) check_run(#test, test)

/* To be returned from main. A program that ran no test has failed. */
CHECK_UNUSED_ static int check_report(void)
{
    printf("%d passed, 0 failed\n", check_passed);
    fflush(stdout);
    return check_passed == 0;
}

#endif
