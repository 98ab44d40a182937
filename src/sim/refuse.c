#include "sim/refuse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int sim_refuse(char *message, size_t size, const char *format, ...)
{
    if (!message || !size)
        return -EINVAL;
    message[0] = '\0';
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, size, format, args);
    va_end(args);
    for (char *c = message; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return -EINVAL;
}
