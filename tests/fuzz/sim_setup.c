/* Settings of the simulator, and lists of their values. The first line is pairs; each further one is a
 * setting with a list. Pairs that are refused change nothing; what is taken says the same again when it is
 * printed. A list joined by semicolons is the same list. Messages are one printable line. */
#include "fuzz.h"
#include "sim/setup.h"
#include "sim/values.h"

#include <errno.h>
#include <stdio.h>

static void check_message(const char *message, size_t size)
{
    FUZZ_CHECK(memchr(message, 0, size) && *message);
    for (const char *c = message; *c; c++)
        FUZZ_CHECK(*c >= ' ' && *c <= '~');
}

/* Files are other input; large trees and loops take long by design. */
static int is_cheap(const struct setup *s)
{
    const char *tree = s->value[SETUP_TREE];
    for (int k = 0; k < SETUP_KEYS; k++)
        if (strstr(s->value[k], "file:"))
            return 0;
    int computed = *tree == 'f' || *tree == 's' || *tree == 'b'; /* fib, spine, balanced */
    return strcmp(s->value[SETUP_LIST], "-") == 0 && (computed || (strlen(tree) < 12 && *tree != 'u'));
}

static void check_make(const struct setup *s)
{
    struct setup_run run;
    char message[300];
    memset(message, '#', sizeof message);
    int rc = setup_make(&run, s, message, sizeof message);
    FUZZ_CHECK(rc == 0 || rc == -EINVAL || rc == -ENOMEM);
    if (rc != 0) {
        if (rc == -EINVAL)
            check_message(message, sizeof message);
        return;
    }
    FUZZ_CHECK(run.config.workers >= 1 && run.config.workers <= SIM_MAX_WORKERS);
    FUZZ_CHECK(run.config.policy.wait >= 0 && run.config.costs.failed >= 0);
    FUZZ_CHECK(run.load.spawn_permille <= 1000);
    FUZZ_CHECK(run.load.children_min <= run.load.children_max && run.config.policy.near_permille <= 1000);
    setup_free(&run);
}

static void check_pairs(const char *text)
{
    static struct setup s, before, again;
    char message[300], pair[SETUP_VALUE + 64];
    memset(message, '#', sizeof message);
    setup_init(&s);
    before = s;
    int rc = setup_parse(&s, text, true, message, sizeof message);
    FUZZ_CHECK(rc == 0 || rc == -EINVAL);
    if (rc != 0) {
        check_message(message, sizeof message);
        FUZZ_CHECK(memcmp(&s, &before, sizeof s) == 0);
        return;
    }
    setup_init(&again);
    for (int k = 0; k < SETUP_KEYS; k++) {
        snprintf(pair, sizeof pair, "%s=%s", setup_key_help((enum setup_key)k)->name, s.value[k]);
        FUZZ_CHECK(setup_parse(&again, pair, false, message, sizeof message) == 0);
        FUZZ_CHECK(strcmp(s.value[k], again.value[k]) == 0);
    }
    if (is_cheap(&s))
        check_make(&s);
}

static void check_same(const struct values *v, enum setup_key key)
{
    struct values again;
    size_t n = 0;
    char *text = malloc(v->n * SETUP_VALUE + 1);
    FUZZ_CHECK(text);
    *text = '\0';
    for (size_t i = 0; i < v->n; i++)
        n += (size_t)sprintf(text + n, "%s%s", i ? ";" : "", v->value[i]);
    FUZZ_CHECK(values_parse(&again, key, text, NULL, 0) == 0 && again.n == v->n);
    for (size_t i = 0; i < v->n; i++)
        FUZZ_CHECK(strcmp(again.value[i], v->value[i]) == 0);
    values_free(&again);
    free(text);
}

static void check_list(char *line)
{
    struct values v;
    char message[300], *list = strchr(line, '=');
    if (!list)
        return;
    *list++ = '\0';
    enum setup_key key = setup_key_named(line);
    if (key == SETUP_KEYS)
        return;
    memset(message, '#', sizeof message);
    int rc = values_parse(&v, key, list, message, sizeof message);
    FUZZ_CHECK(rc == 0 || rc == -EINVAL);
    FUZZ_CHECK(rc == 0 ? v.n >= 1 && v.n <= VALUES_MOST : v.n == 0 && !v.value);
    if (rc != 0) {
        check_message(message, sizeof message);
        return;
    }
    for (size_t i = 0; i < v.n; i++)
        FUZZ_CHECK(*v.value[i] && memchr(v.value[i], 0, SETUP_VALUE));
    check_same(&v, key);
    values_free(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *rest = data;
    for (int first = 1; size > 0 || first; first = 0) {
        size_t left, n = fuzz_line(data, size, &rest, &left);
        char *line = fuzz_string(data, n);
        if (first)
            check_pairs(line);
        else
            check_list(line);
        free(line);
        data = rest;
        size = left;
    }
    return 0;
}
