/* The version is written in several places, and they agree. */
#include "check.h"

#include <filch.h>

static void the_library_is_of_the_header_s_version(void)
{
    CHECK_STR(filch_version(), FILCH_VERSION);
}

static void the_numbers_make_the_string(void)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", FILCH_VERSION_MAJOR, FILCH_VERSION_MINOR,
             FILCH_VERSION_PATCH);
    CHECK_STR(text, FILCH_VERSION);
}

int main(void)
{
    RUN(the_library_is_of_the_header_s_version);
    RUN(the_numbers_make_the_string);
    return check_report();
}
