/* Policy strings. A string is taken as a whole or not at all; what comes out is a configuration
 * that a pool accepts; a message is short, printable, and keeps to its room. */
#include "core/config.h"
#include "fuzz.h"

#include <errno.h>

/* The room for the message varies with the string, from none to more than enough. */
static size_t room_of(const char *text)
{
    size_t sum = 0;
    for (; *text; text++)
        sum = sum * 31 + (unsigned char)*text;
    return sum % 200;
}

static void check_message(const char *message, size_t room, size_t size)
{
    for (size_t i = room; i < size; i++)
        FUZZ_CHECK(message[i] == '#');
    size_t n = room ? strnlen(message, room) : 0;
    FUZZ_CHECK(!room || n < room);
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(message[i] >= ' ' && message[i] <= '~');
}

static void check_taken(const filch_config *c, const char *text)
{
    filch_config resolved, again = *c;
    FUZZ_CHECK(filch_config_parse(&again, text, NULL, 0) == 0);
    FUZZ_CHECK(memcmp(&again, c, sizeof again) == 0); /* saying it twice changes nothing */
    FUZZ_CHECK(config_resolve(&resolved, c) == 0);
    FUZZ_CHECK(resolved.ring_capacity >= 2 && resolved.spin_rounds >= 1);
    FUZZ_CHECK(resolved.backoff_min_ns >= 1 && resolved.backoff_min_ns <= resolved.backoff_max_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_string(data, size);
    filch_config c = FILCH_CONFIG_INIT;
    c.no_environment = 1;
    c.workers = 3;
    filch_config before = c;
    char message[256];
    size_t room = room_of(text);
    memset(message, '#', sizeof message);
    int rc = filch_config_parse(&c, text, message, room);
    FUZZ_CHECK(rc == 0 || rc == -EINVAL);
    FUZZ_CHECK(c.workers == 3 && c.no_environment == 1); /* not for a policy to say */
    if (rc == 0)
        check_taken(&c, text);
    else
        FUZZ_CHECK(memcmp(&c, &before, sizeof c) == 0);
    check_message(message, rc ? room : 0, sizeof message);
    free(text);
    return 0;
}
