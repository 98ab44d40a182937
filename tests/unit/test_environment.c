/* Variables that people set: what cannot be read is said once, in a line, and the default holds. */
#define _GNU_SOURCE
#include "../forking.h"

#include <filch/blocking.h>
#include <filch/task.h>

static int lines(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static const char *name, *value;

static int nothing(void *arg)
{
    (void)arg;
    return 0;
}

static int asks(void *arg)
{
    return filch_blocking(nothing, arg);
}

/* All that reads the environment, and twice. */
static void uses_everything(void)
{
    CHECK_EQ(setenv(name, value, 1), 0);
    for (int i = 0; i < 2; i++) {
        filch_config c = FILCH_CONFIG_INIT;
        filch_task_attr a = FILCH_TASK_ATTR_INIT;
        filch_task *t;
        CHECK_EQ(filch_pool_create(&a.pool, &c), 0);
        CHECK_EQ(filch_spawn_with(&t, &a, asks, NULL), 0);
        CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
        filch_pool_destroy(a.pool);
    }
    exit(0); /* with what is printed at the end */
}

static struct ending with(const char *variable, const char *text)
{
    name = variable;
    value = text;
    struct ending e = in_child(uses_everything);
    CHECK_MSG(WIFEXITED(e.status) && WEXITSTATUS(e.status) == 0, "%s=%s: ended with %#x: %s", name, value,
              e.status, e.text);
    return e;
}

static const char *const flags[] = {"FILCH_STATS", "FILCH_DUMP", "FILCH_NO_MEMBARRIER",
                                    "FILCH_NO_OVERFLOW_REPORT"};
static const char *const numbers[] = {"FILCH_WORKERS", "FILCH_HOG_MS", "FILCH_SCHEDTRACE", "FILCH_BLOCKING"};

static void a_flag_that_is_neither_0_nor_1_is_said_once(void)
{
    static const char *const wrong[] = {"yes", "on", "2", "11", " 1", "true"};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            struct ending e = with(flags[i], wrong[k]);
            CHECK_MSG(strstr(e.text, flags[i]) && lines(e.text) == 1, "%s=%s: %s", name, value, e.text);
        }
}

static void a_flag_that_is_off_says_nothing(void)
{
    for (size_t i = 0; i < 4; i++) {
        CHECK_STR(with(flags[i], "").text, "");
        CHECK_STR(with(flags[i], "0").text, "");
    }
    for (size_t i = 1; i < 4; i++)
        CHECK_STR(with(flags[i], "1").text, "");
    CHECK(lines(with("FILCH_STATS", "1").text) > 4);
}

static void a_number_that_is_none_is_said_once(void)
{
    static const char *const wrong[] = {"many", "-1", "99999999999999999999", "1x"};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            struct ending e = with(numbers[i], wrong[k]);
            CHECK_MSG(strstr(e.text, numbers[i]) && lines(e.text) == 1, "%s=%s: %s", name, value, e.text);
        }
}

static void a_policy_that_is_none_is_said_once(void)
{
    struct ending e = with("FILCH_POLICY", "victim=frobnicate");
    CHECK_MSG(strstr(e.text, "FILCH_POLICY") && lines(e.text) == 1, "%s", e.text);
}

int main(void)
{
    for (size_t i = 0; i < 4; i++) {
        unsetenv(flags[i]);
        unsetenv(numbers[i]);
    }
    unsetenv("FILCH_POLICY");
    RUN(a_flag_that_is_neither_0_nor_1_is_said_once);
    RUN(a_flag_that_is_off_says_nothing);
    RUN(a_number_that_is_none_is_said_once);
    RUN(a_policy_that_is_none_is_said_once);
    return check_report();
}
