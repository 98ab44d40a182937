/* test_config.c: policy strings: every word, every range, and strings that mean harm. */
#include "core/config.h"
#include "check.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>

static filch_config parsed(const char *text)
{
    filch_config c = FILCH_CONFIG_INIT;
    char message[160] = "";
    int rc = filch_config_parse(&c, text, message, sizeof message);
    CHECK_MSG(rc == 0, "\"%s\": %s", text, message);
    return c;
}

#define WORD(text, field, expected) CHECK_EQ(parsed(text).field, expected)

static void every_victim_and_share_has_its_word(void)
{
    WORD("victim=random", victim, FILCH_VICTIM_RANDOM);
    WORD("victim=one", victim, FILCH_VICTIM_ONE);
    WORD("victim=order", victim, FILCH_VICTIM_ORDER);
    WORD("victim=largest", victim, FILCH_VICTIM_LARGEST);
    WORD("victim=shuffle", victim, FILCH_VICTIM_SHUFFLE);
    WORD("victim=two", victim, FILCH_VICTIM_TWO);
    WORD("victim=last", victim, FILCH_VICTIM_LAST);
    WORD("steal=half", steal, FILCH_STEAL_HALF);
    WORD("steal=one", steal, FILCH_STEAL_ONE);
    WORD("steal=quarter", steal, FILCH_STEAL_QUARTER);
    WORD("steal=three", steal, FILCH_STEAL_THREE);
    WORD("steal=all", steal, FILCH_STEAL_ALL);
    WORD("steal=floor", steal, FILCH_STEAL_FLOOR);
}

static void every_pair_of_ends_queue_and_join_has_its_word(void)
{
    WORD("ends=fifo", ends, FILCH_ENDS_FIFO);
    WORD("ends=lifo", ends, FILCH_ENDS_LIFO);
    WORD("ends=reverse", ends, FILCH_ENDS_REVERSE);
    WORD("queue=ring", queue, FILCH_QUEUE_RING);
    WORD("queue=shared", queue, FILCH_QUEUE_SHARED);
    WORD("queue=private", queue, FILCH_QUEUE_PRIVATE);
    WORD("queue=locked", queue, FILCH_QUEUE_LOCKED);
    WORD("queue=trylock", queue, FILCH_QUEUE_TRYLOCK);
    WORD("join=suspend", join, FILCH_JOIN_SUSPEND);
    WORD("join=help", join, FILCH_JOIN_HELP);
}

static void every_way_to_wake_and_to_idle_has_its_word(void)
{
    WORD("wake=one", wake, FILCH_WAKE_ONE);
    WORD("wake=all", wake, FILCH_WAKE_ALL);
    WORD("wake=none", wake, FILCH_WAKE_NONE);
    WORD("wake=random", wake, FILCH_WAKE_RANDOM);
    WORD("run_next=on", run_next, FILCH_RUN_NEXT_ON);
    WORD("run_next=off", run_next, FILCH_RUN_NEXT_OFF);
    WORD("idle=park", idle, FILCH_IDLE_PARK);
    WORD("idle=yield", idle, FILCH_IDLE_YIELD);
    WORD("idle=sleep", idle, FILCH_IDLE_SLEEP);
    WORD("idle=backoff", idle, FILCH_IDLE_BACKOFF);
}

static void numbers_are_taken_at_both_ends_of_their_range(void)
{
    WORD("spin=1", spin_rounds, 1);
    WORD("spin=1000000", spin_rounds, 1000000);
    WORD("attempts=1", steal_attempts, 1);
    WORD("attempts=1024", steal_attempts, 1024);
    WORD("spares=0", stand_ins, 0);
    WORD("spares=512", stand_ins, 512);
    WORD("cycle_attempts=1", cycle_attempts, 1);
    WORD("cycle_attempts=1000000000", cycle_attempts, 1000000000);
    WORD("backoff_factor=1", backoff_factor, 1);
    WORD("backoff_factor=16", backoff_factor, 16);
    WORD("backoff_jitter=100", backoff_jitter, 100);
    WORD("global_every=1", global_every, 1);
    WORD("global_every=1000000", global_every, 1000000);
    WORD("ring=2", ring_capacity, 2);
    WORD("ring=65536", ring_capacity, 65536);
    WORD("backoff_us=1..1000", backoff_min_ns, 1000);
    WORD("backoff_us=1..1000", backoff_max_ns, 1000000);
    WORD("backoff_us=10000..10000", backoff_min_ns, 10000000);
    WORD("backoff_us=10000..10000", backoff_max_ns, 10000000);
}

static void several_settings_stand_side_by_side_and_the_last_of_a_kind_counts(void)
{
    filch_config c = parsed("victim=one,steal=half,wake=all,idle=park,join=help,queue=ring,"
                            "ends=lifo,spin=64,attempts=4,backoff_us=50..1000,victim=order");
    CHECK_EQ(c.victim, FILCH_VICTIM_ORDER);
    CHECK_EQ(c.wake, FILCH_WAKE_ALL);
    CHECK_EQ(c.join, FILCH_JOIN_HELP);
    CHECK_EQ(c.ends, FILCH_ENDS_LIFO);
    CHECK_EQ(c.spin_rounds, 64);
    CHECK_EQ(c.steal_attempts, 4);
    CHECK_EQ(c.backoff_min_ns, 50000);
}

static void the_empty_string_changes_nothing(void)
{
    filch_config c = FILCH_CONFIG_INIT, before;
    memset(&c, 0x5a, sizeof c);
    c.size = sizeof c;
    before = c;
    CHECK_EQ(filch_config_parse(&c, "", NULL, 0), 0);
    CHECK_EQ(memcmp(&c, &before, sizeof c), 0);
}

/* ---- errors -------------------------------------------------------------------------------- */

static void refused(const char *text)
{
    filch_config c, before;
    char message[200];
    memset(&c, 0x5a, sizeof c);
    c.size = sizeof c;
    memset(message, '#', sizeof message);
    before = c;
    int rc = filch_config_parse(&c, text, message, sizeof message);
    CHECK_MSG(rc == -EINVAL, "\"%.60s\" was taken (%d)", text, rc);
    CHECK_MSG(memcmp(&c, &before, sizeof c) == 0, "\"%.60s\" changed the configuration", text);
    size_t n = strnlen(message, sizeof message);
    CHECK(n > 0 && n < sizeof message);
    for (size_t i = 0; i < n; i++)
        CHECK_MSG(message[i] >= ' ' && message[i] <= '~', "byte %d in a message", message[i]);
    CHECK_EQ(filch_config_parse(&c, text, NULL, 0), -EINVAL);
    CHECK_EQ(memcmp(&c, &before, sizeof c), 0);
}

static void unknown_words_are_refused_and_change_nothing(void)
{
    static const char *const bad[] = {
        "victim", "victim=", "=", "=one", ",", "one", "victim=three", "Victim=one", "victim=One",
        " victim=one", "victim= one", "victim=one ", "victim==one", "victim=one=two",
        "victim=half", "nothing=1", "steal=random", "idle=one", "victim=one;steal=one",
        "victim=one,,steal=one", ",victim=one", "workers=3", "v=one", "victim=one,wake=maybe", "wake=target",
        "join=block", "queue=deque", "run_next=maybe", "near=1", "standins=1",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i]);
}

static void numbers_out_of_range_are_refused(void)
{
    static const char *const bad[] = {
        "spin=0", "spin=-1", "spin=1000001", "spin=1e3", "spin= 1", "spin=+1", "spin=0x10", "spin=",
        "spin=99999999999999999999999999", "attempts=0", "attempts=1025", "ring=0", "ring=1",
        "spares=", "spares=-1", "spares=513", "spares=one", "cycle_attempts=0", "cycle_attempts=1000000001",
        "backoff_factor=0", "backoff_factor=17", "backoff_jitter=101", "backoff_jitter=-1", "global_every=0",
        "global_every=1000001", "backoff_us=00000000000000000001..1000",
        "ring=3", "ring=131072", "ring=65535", "backoff_us=50", "backoff_us=..",
        "backoff_us=50..", "backoff_us=..1000", "backoff_us=0..1000", "backoff_us=50..999",
        "backoff_us=50..10001", "backoff_us=2000..1000", "backoff_us=50...1000",
        "backoff_us=50..1000..2000", "backoff_us=-5..1000", "backoff_us=50..1000us",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i]);
}

static void an_error_at_the_end_undoes_what_came_before(void)
{
    refused("victim=one,steal=one,wake=all,spin=7,ring=4,queue=shared,nonsense");
}

static void long_strings_are_refused(void)
{
    static char text[100000];
    static const size_t length[] = {40, 80, 511, 512, 513, 4096, sizeof text - 1};
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        memset(text, 'x', sizeof text);
        text[length[i]] = '\0';
        refused(text);
        memset(text, ',', length[i]);
        refused(text);
        memset(text, '=', length[i]);
        refused(text);
    }
}

static void a_long_string_of_good_words_is_taken_if_it_fits(void)
{
    char text[600] = "";
    while (strlen(text) + 11 < 512)
        strcat(text, "victim=one,");
    CHECK_EQ(parsed(text).victim, FILCH_VICTIM_ONE);
    while (strlen(text) < 512)
        strcat(text, "victim=one,");
    refused(text);
}

static void every_byte_is_survived_and_none_but_printable_ones_come_back(void)
{
    for (int b = 1; b < 256; b++) {
        char text[32];
        snprintf(text, sizeof text, "victim=%cone", b);
        refused(text);
        snprintf(text, sizeof text, "%c", b);
        refused(text);
        snprintf(text, sizeof text, "spin=1%c", b);
        if ((b < '0' || b > '9') && b != ',')
            refused(text);
    }
    refused("\x1b[2J\x1b[31mvictim=one");
    refused("victim=\xff\xfe\xc3\x28");
    refused("line\nbreak=\r\n");
    refused("%s%n%s%n=%n");
}

static void a_message_names_what_is_wrong(void)
{
    filch_config c = FILCH_CONFIG_INIT;
    char message[200] = "";
    CHECK_EQ(filch_config_parse(&c, "steal=one,wake=maybe,idle=park", message, sizeof message),
             -EINVAL);
    CHECK(strstr(message, "wake=maybe"));
    CHECK(!strstr(message, "idle=park"));
    CHECK(!strchr(message, '\n'));
}

static void says(const char *text, const char *expected)
{
    filch_config c = FILCH_CONFIG_INIT;
    char message[256];
    CHECK_EQ(filch_config_parse(&c, text, message, sizeof message), -EINVAL);
    CHECK_STR(message, expected);
}

static void a_message_lists_what_is_known(void)
{
    says("victim=best", "\"victim=best\": victim is one of random one order largest shuffle two last");
    says("steal=half,wake", "\"wake\": wake is one of one all none random");
    says("join=block", "\"join=block\": join is one of suspend help");
    says("backoff_factor=17", "\"backoff_factor=17\": backoff_factor is 1 to 16");
    says("ring=3", "\"ring=3\": ring is a power of two, 2 to 65536");
    says("near=1", "\"near=1\": no such key; there are victim steal ends wake idle join queue run_next spin "
                   "attempts cycle_attempts backoff_us backoff_factor backoff_jitter global_every ring "
                   "spares");
}

/* A word of forty letters is no less worth naming than one of thirty-nine. */
static void a_message_shows_the_start_of_a_long_word(void)
{
    filch_config c = FILCH_CONFIG_INIT;
    for (size_t n = 1; n < 130; n++) {
        char text[200], message[300] = "";
        memset(text, 'y', sizeof text);
        text[n] = '\0';
        CHECK_EQ(filch_config_parse(&c, text, message, sizeof message), -EINVAL);
        text[n < 20 ? n : 20] = '\0';
        CHECK_MSG(strstr(message, text), "%zu letters: %s", n, message);
    }
}

static void a_message_keeps_to_its_room(void)
{
    filch_config c = FILCH_CONFIG_INIT;
    for (size_t room = 0; room <= 100; room++) {
        char message[128];
        memset(message, '#', sizeof message);
        CHECK_EQ(filch_config_parse(&c, "no_such_thing=1", message, room), -EINVAL);
        for (size_t i = room; i < sizeof message; i++)
            CHECK_EQ(message[i], '#');
        if (room > 0)
            CHECK(strnlen(message, room) < room);
    }
}

/* ---- what a pool makes of it --------------------------------------------------------------- */

static filch_config resolved(filch_config c)
{
    filch_config out;
    c.no_environment = 1;
    CHECK_EQ(config_resolve(&out, &c), 0);
    return out;
}

static void zero_is_the_default(void)
{
    filch_config c = resolved((filch_config)FILCH_CONFIG_INIT);
    CHECK(c.workers >= 1 && c.workers <= FILCH_MAX_WORKERS);
    CHECK_EQ(c.stack_size, 8 << 20);
    CHECK_EQ(c.ring_capacity, 256);
    CHECK_EQ(c.spin_rounds, 64);
    CHECK(c.steal_attempts >= FILCH_MAX_WORKERS - 1);
    CHECK_EQ(c.backoff_min_ns, 50000);
    CHECK_EQ(c.backoff_max_ns, 1000000);
    CHECK_EQ(c.backoff_factor, 2);
    CHECK_EQ(c.backoff_jitter, 0);
    CHECK_EQ(c.global_every, 61);
    CHECK_EQ(c.cycle_attempts, 0);
}

static void the_longest_back_off_is_between_one_and_ten_milliseconds(void)
{
    static const int64_t asked[] = {1, 999999, 1000000, 5000000, 10000000, 10000001, INT64_MAX};
    static const int64_t given[] = {1000000, 1000000, 1000000, 5000000, 10000000, 10000000,
                                    10000000};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        filch_config c = FILCH_CONFIG_INIT;
        c.backoff_max_ns = asked[i];
        CHECK_EQ(resolved(c).backoff_max_ns, given[i]);
        c.backoff_min_ns = INT64_MAX;
        CHECK_EQ(resolved(c).backoff_min_ns, given[i]);
    }
}

static void ends_that_are_not_given_go_by_the_queue(void)
{
    filch_config c = FILCH_CONFIG_INIT;
    for (int queue = FILCH_QUEUE_RING; queue <= FILCH_QUEUE_TRYLOCK; queue++) {
        bool deques = queue == FILCH_QUEUE_LOCKED || queue == FILCH_QUEUE_TRYLOCK;
        c.queue = (enum filch_queue)queue;
        c.ends = FILCH_ENDS_DEFAULT;
        CHECK_EQ(resolved(c).ends, deques ? FILCH_ENDS_REVERSE : FILCH_ENDS_FIFO);
        CHECK_EQ(resolved(c).queue, queue);
        c.ends = FILCH_ENDS_FIFO;
        CHECK_EQ(resolved(c).ends, FILCH_ENDS_FIFO);
    }
}

static void the_newest_end_for_thieves_needs_a_locked_queue(void)
{
    filch_config c = FILCH_CONFIG_INIT;
    c.ends = FILCH_ENDS_REVERSE;
    CHECK_EQ(resolved(c).queue, FILCH_QUEUE_TRYLOCK);
    c.queue = FILCH_QUEUE_LOCKED;
    CHECK_EQ(resolved(c).queue, FILCH_QUEUE_LOCKED);
}

static void stand_ins_get_the_seats_that_workers_leave(void)
{
    static const int workers[] = {1, 512, 1000, FILCH_MAX_WORKERS};
    static const size_t given[] = {512, 512, 24, 0};
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
        filch_config c = FILCH_CONFIG_INIT;
        c.workers = workers[i];
        c.stand_ins = FILCH_MAX_WORKERS / 2;
        CHECK_EQ(resolved(c).stand_ins, given[i]);
        CHECK_EQ(resolved(c).workers, workers[i]);
    }
}

static void numbers_are_plain_decimal(void)
{
    static const char *const bad[] = {"", " 1", "1 ", "+1", "-1", "1.", "1e1", "0x1", "a", "11",
                                      "99999999999999999999"};
    long n = 77;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(config_number(bad[i], 0, 10, &n), 0);
    CHECK_EQ(n, 77);
    CHECK_EQ(config_number("0", 0, 10, &n) && n == 0, 1);
    CHECK_EQ(config_number("10", 0, 10, &n) && n == 10, 1);
    CHECK_EQ(config_number("007", 0, 10, &n) && n == 7, 1);
}

int main(void)
{
    RUN(every_victim_and_share_has_its_word);
    RUN(every_pair_of_ends_queue_and_join_has_its_word);
    RUN(every_way_to_wake_and_to_idle_has_its_word);
    RUN(numbers_are_taken_at_both_ends_of_their_range);
    RUN(several_settings_stand_side_by_side_and_the_last_of_a_kind_counts);
    RUN(the_empty_string_changes_nothing);
    RUN(unknown_words_are_refused_and_change_nothing);
    RUN(numbers_out_of_range_are_refused);
    RUN(an_error_at_the_end_undoes_what_came_before);
    RUN(long_strings_are_refused);
    RUN(a_long_string_of_good_words_is_taken_if_it_fits);
    RUN(every_byte_is_survived_and_none_but_printable_ones_come_back);
    RUN(a_message_names_what_is_wrong);
    RUN(a_message_lists_what_is_known);
    RUN(a_message_shows_the_start_of_a_long_word);
    RUN(a_message_keeps_to_its_room);
    RUN(zero_is_the_default);
    RUN(the_longest_back_off_is_between_one_and_ten_milliseconds);
    RUN(ends_that_are_not_given_go_by_the_queue);
    RUN(the_newest_end_for_thieves_needs_a_locked_queue);
    RUN(stand_ins_get_the_seats_that_workers_leave);
    RUN(numbers_are_plain_decimal);
    return check_report();
}
