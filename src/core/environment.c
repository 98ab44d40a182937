#include "core/environment.h"
#include "core/report.h"
#include "os/os.h"

#include <string.h>

static const char *const names[FLAGS] = {
    [FLAG_STATS] = "FILCH_STATS",
    [FLAG_DUMP] = "FILCH_DUMP",
    [FLAG_NO_MEMBARRIER] = "FILCH_NO_MEMBARRIER",
    [FLAG_NO_OVERFLOW_REPORT] = "FILCH_NO_OVERFLOW_REPORT",
};

bool environment_flag_set(enum flag flag)
{
    const char *text = os_getenv(names[flag]);
    return text && strcmp(text, "1") == 0;
}

bool environment_flag(enum flag flag)
{
    static uint32_t said[FLAGS];
    const char *text = os_getenv(names[flag]);
    if (!text || *text == '\0' || strcmp(text, "0") == 0)
        return false;
    if (strcmp(text, "1") == 0)
        return true;
    report_once(&said[flag], "filch: %s is neither 0 nor 1; ignored", names[flag]);
    return false;
}
