#include "term.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int term_is(FILE *f)
{
    return isatty(fileno(f));
}

int term_columns(void)
{
    struct winsize w;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
        return w.ws_col;
    return 80;
}

int term_output_lost(const char *command)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "%s: cannot write to standard output%s%s\n", command, errno ? ": " : "",
            errno ? strerror(errno) : ""); /* 0: what failed was an earlier write */
    return 1;
}

/* The first of these that is set decides, as in setlocale. */
int term_unicode(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8");
    }
    return 0;
}

void term_progress(const char *format, ...)
{
    va_list args;
    if (!term_is(stderr))
        return;
    fputs("\r\033[K", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fflush(stderr);
}

void term_progress_end(void)
{
    if (term_is(stderr))
        fputs("\r\033[K", stderr);
}

static void append(char *out, size_t size, const char *text)
{
    size_t used = strlen(out);
    if (used + strlen(text) < size)
        strcpy(out + used, text);
}

void term_bar(char *out, size_t size, double fraction, int width)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int unicode = term_unicode();
    double clipped = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
    int units = (int)(clipped * width * 8 + 0.5), cells = units / 8, rest = units % 8;

    out[0] = 0;
    for (int i = 0; i < cells; i++)
        append(out, size, unicode ? "█" : "#");
    if (rest && unicode) {
        append(out, size, eighths[rest]);
        cells++;
    }
    for (; cells < width; cells++)
        append(out, size, " ");
}

const char *term_shade(double level)
{
    static const char *const blocks[] = {" ", "░", "▒", "▓", "█"};
    static const char *const ascii[] = {" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};
    double clipped = level < 0 ? 0 : level > 1 ? 1 : level;
    return term_unicode() ? blocks[(int)(clipped * 4.999)] : ascii[(int)(clipped * 9.999)];
}
