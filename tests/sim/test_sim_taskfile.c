/* test_sim_taskfile.c: task lists and graphs in text: what is read, and what is refused with its place. */
#include "sim/taskfile.h"
#include "check.h"

#include <errno.h>

#ifdef SIM_SHORT
enum { MANY = 20000 };
#else
enum { MANY = 300000 };
#endif

static struct task_list parsed(const char *text)
{
    struct task_list list;
    char message[500] = "";
    int rc = task_list_parse(&list, text, strlen(text), "t", message, sizeof message);
    CHECK_MSG(rc == 0, "\"%.60s\": %s", text, message);
    return list;
}

static void refused_bytes(const char *text, size_t length, const char *expected)
{
    struct task_list list;
    char message[500];
    memset(&list, 0x5a, sizeof list);
    memset(message, '#', sizeof message);
    int rc = task_list_parse(&list, text, length, "tasks.txt", message, sizeof message);
    CHECK_MSG(rc == -EINVAL, "\"%.60s\" was taken (%d)", text, rc);
    CHECK_MSG(strstr(message, expected), "\"%.60s\": %s", text, message);
    CHECK(strncmp(message, "tasks.txt:", 10) == 0);
    for (const char *c = message; *c; c++)
        CHECK_MSG(*c >= ' ' && *c <= '~', "byte %d in a message", *c);
    CHECK(list.n == 0 && !list.task && !list.edges);
    CHECK_EQ(task_list_parse(&list, text, length, "tasks.txt", NULL, 0), -EINVAL);
}

static void refused(const char *text, const char *expected)
{
    refused_bytes(text, strlen(text), expected);
}

static void every_column_is_read(void)
{
    struct task_list list = parsed("# a list\n"
                                   "A 0 2 1.5   # to worker 2\n"
                                   "\n"
                                   "  B\t0.5 * 2ms\r\n"
                                   "C - - 0 B\n"
                                   "D 1h 0 3s - after=A,B,C\n"
                                   "E * 7 1 after=D");
    const struct task_line *t = list.task;
    CHECK_EQ(list.n, 5);
    CHECK_STR(t[0].id, "A");
    CHECK(t[0].at == 0 && t[0].worker == 2 && t[0].duration == 1500000000 && t[0].parent == -1);
    CHECK(t[0].n_after == 0 && t[0].line == 2);
    CHECK_STR(t[1].id, "B");
    CHECK(t[1].at == 500000000 && t[1].worker == -1 && t[1].duration == 2000000 && t[1].line == 4);
    CHECK(t[2].at == 0 && t[2].worker == -1 && t[2].duration == 0 && t[2].parent == 1);
    CHECK(t[3].at == 3600 * SIM_SECOND && t[3].worker == 0 && t[3].parent == -1 && t[3].n_after == 3);
    CHECK(t[3].after[0] == 0 && t[3].after[1] == 1 && t[3].after[2] == 2);
    CHECK(t[4].at == 0 && t[4].worker == 7 && t[4].n_after == 1 && t[4].after[0] == 3);
    task_list_free(&list);
    CHECK(list.n == 0 && !list.task);
}

static void a_task_may_name_what_is_defined_further_down(void)
{
    struct task_list list = parsed("A 0 0 1 B after=C\nB 0 0 1 after=C,C\nC 0 0 1\n");
    CHECK(list.task[0].parent == 1 && list.task[0].n_after == 1 && list.task[0].after[0] == 2);
    CHECK(list.task[1].parent == -1 && list.task[1].n_after == 2 && list.task[1].after[1] == 2);
    task_list_free(&list);
}

static void a_file_is_read_as_memory_is(void)
{
    struct task_list list;
    char message[200];
    FILE *f = tmpfile();
    CHECK(f && fputs("A 0 0 1\nB 0 0 x\n", f) >= 0);
    rewind(f);
    CHECK_EQ(task_list_read(&list, f, "list.txt", message, sizeof message), -EINVAL);
    CHECK(strstr(message, "list.txt:2: duration: \"x\" is no time"));
    rewind(f);
    CHECK(fputs("A 0 0 1\nB 0 0 1", f) >= 0);
    rewind(f);
    CHECK(ftruncate(fileno(f), 15) == 0);
    CHECK_EQ(task_list_read(&list, f, "list.txt", message, sizeof message), 0);
    CHECK_EQ(list.n, 2);
    task_list_free(&list);
    fclose(f);
    f = fopen("/", "r");
    CHECK(f);
    CHECK_EQ(task_list_read(&list, f, "list.txt", message, sizeof message), -EINVAL);
    CHECK(strstr(message, "list.txt:1: cannot be read"));
    fclose(f);
}

static void wrong_lines_are_refused_with_their_place(void)
{
    static const char *const bad[][2] = {
        {"", "no task in it; a line is: id time worker duration"},
        {"# nothing\n\n", "no task in it"},
        {"A 0 0 1\nB 0 0\n", "tasks.txt:2: 3 columns; a line is: id time worker duration"},
        {"A\n", ":1: 1 columns"},
        {"A 0 0 1 P after=A X", "more than 6 columns"},
        {"A 0 0 1 - B", "\"B\" in column 6; only after="},
        {"A 0 0 1 after=B B", "\"B\" in column 6"},
        {"A 0 0 1 after=B after=B", "\"after=B\" in column 6"},
        {"A -1 0 1", "time: \"-1\" is no time"},
        {"A 0 0 -1", "duration: \"-1\" is no time"},
        {"A 0 0 -", "duration: \"-\" is no time"},
        {"A 0 0 *", "duration: \"*\" is no time"},
        {"A 0 0 nan", "is no time"},
        {"A 0 0 1e9", "is no time"},
        {"A 0 0 999999999999", "too large"},
        {"A inf 0 1", "is no time"},
        {"A 0 -1 1", "worker \"-1\"; a number from 0, or * for any"},
        {"A 0 1.5 1", "worker \"1.5\""},
        {"A 0 x 1", "worker \"x\""},
        {"A 0 9999999999 1", "worker \"9999999999\""},
        {"- 0 0 1", "\"-\" is no id"},
        {"* 0 0 1", "\"*\" is no id"},
        {"A,B 0 0 1", "\"A,B\" is no id"},
        {"after=A 0 0 1", "\"after=A\" is no id"},
        {"A\xc3\xa4 0 0 1", "\"A??\" is no id; 1 to 31 printable"},
        {"A23456789012345678901234567890123 0 0 1", "is no id"},
        {"A 0 0 1\nB 0 0 1 A,A", "\"A,A\" is no id"},
        {"A 0 0 1 after=", "\"\" is no id"},
        {"A 0 0 1\nB 0 0 1 after=A,", "tasks.txt:2: \"\" is no id"},
        {"A 0 0 1\nB 0 0 1 after=,A", "\"\" is no id"},
        {"A 0 0 1\nB 1 0 1 A", "a time and a parent; the time of what a parent spawns is -"},
        {"A 0 0 1\nB 0 0 1\n\nA 0 0 1", "tasks.txt:4: id A a second time, the first is in line 1"},
        {"A 0 0 1\nB 0 0 1 C", "tasks.txt:2: task B names C, which is not defined"},
        {"A 0 0 1 after=A,B", "task A names B, which is not defined"},
        {"A 0 0 1 # x\nB 0 0 1 after=A#,C\nD 0 0 0 after=X", "tasks.txt:3: task D names X"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i][0], bad[i][1]);
}

static void ids_of_31_characters_are_told_apart(void)
{
    struct task_list list = parsed("A234567890123456789012345678901 0 0 1\n"
                                   "A234567890123456789012345678902 0 0 1 "
                                   "after=A234567890123456789012345678901\n"
                                   "A2345678901234567890123456789 0 0 1\n");
    CHECK(list.n == 3 && list.task[1].after[0] == 0);
    CHECK_STR(list.task[0].id, "A234567890123456789012345678901");
    task_list_free(&list);
}

static void a_cycle_is_named(void)
{
    refused("X 0 0 1\nA 0 0 1 after=A", "tasks.txt:2: cycle: A -> A; each waits for the next one");
    refused("A 0 0 1 A", "tasks.txt:1: cycle: A -> A;");
    refused("A 0 0 1 after=B\nB 0 0 1 after=A", "tasks.txt:1: cycle: A -> B -> A;");
    refused("A 0 0 1 B\nB 0 0 1 A", "cycle: A -> B -> A;");
    refused("A 0 0 1 B\nB 0 0 1 after=A", "cycle: A -> B -> A;");
    refused("X 0 0 1\nA 0 0 1 after=X,C\nB 0 0 1 X after=A\nC 0 0 1 after=X,B",
            "tasks.txt:2: cycle: A -> C -> B -> A;");
    refused("X 0 0 1 after=B\nB 0 0 1 after=A\nA 0 0 1 after=B", "tasks.txt:2: cycle: B -> A -> B;");
}

static void a_long_cycle_is_named_in_short(void)
{
    char text[4000] = "", line[40];
    for (int i = 0; i < 100; i++) {
        snprintf(line, sizeof line, "T%d 0 0 1 after=T%d\n", i, (i + 1) % 100);
        strcat(text, line);
    }
    refused(text, "tasks.txt:1: cycle: T0 -> T1 -> T2 -> T3 -> T4 -> T5 -> ... -> T99 -> T0;");
}

static void what_only_looks_like_a_cycle_is_taken(void)
{
    struct task_list list = parsed("A 0 0 1\nB 0 0 1 after=A\nC 0 0 1 after=A\nD 0 0 1 A after=B,C,A\n");
    CHECK_EQ(list.n, 4);
    task_list_free(&list);
    list = parsed("D 0 0 1 A after=B,C,A\nC 0 0 1 after=A\nB 0 0 1 after=A\nA 0 0 1\n");
    CHECK_EQ(list.task[0].parent, 3);
    task_list_free(&list);
}

/* A chain as long as the file, named from its far end: the search does not recurse. */
static void a_long_chain_is_read_and_closed_it_is_refused(void)
{
    size_t room = (size_t)MANY * 40, n = 0;
    char *text = malloc(room);
    CHECK(text);
    for (int i = 0; i < MANY; i++)
        n += (size_t)snprintf(text + n, room - n, "T%d 0 * 1us after=T%d\n", i, i + 1);
    n += (size_t)snprintf(text + n, room - n, "T%d 0 * 1us", MANY);
    struct task_list list = parsed(text);
    CHECK_EQ(list.n, MANY + 1);
    for (int i = 0; i < MANY; i++)
        CHECK(list.task[i].after[0] == i + 1 && list.task[i].line == (unsigned)i + 1);
    task_list_free(&list);
    snprintf(text + n, room - n, " after=T0");
    refused(text, "tasks.txt:1: cycle: T0 -> T1 -> ");
    free(text);
}

static void binary_data_and_long_lines_are_refused(void)
{
    static char text[10000];
    refused_bytes("A 0 0 1\nB\0 0 1\n", 15, "tasks.txt:2: byte 0x00; only text may stand here");
    refused("\x7f" "ELF\x02", "tasks.txt:1: byte 0x7f");
    refused("A 0 0 1\x1b[2J", "tasks.txt:1: byte 0x1b");
    memset(text, 'x', sizeof text - 1);
    refused(text, "tasks.txt:1: the line has more than 4095 bytes");
    memset(text, ' ', sizeof text - 1);
    refused(text, "tasks.txt:1: the line has more than");
    memset(text, '\n', sizeof text - 1);
    refused(text, "no task in it");
    for (int b = 1; b < 256; b++) {
        char line[] = "A? 0 0 1";
        line[1] = (char)b;
        struct task_list list;
        if (task_list_parse(&list, line, sizeof line - 1, "t", NULL, 0) == 0)
            task_list_free(&list);
    }
}

int main(void)
{
    RUN(every_column_is_read);
    RUN(a_task_may_name_what_is_defined_further_down);
    RUN(a_file_is_read_as_memory_is);
    RUN(wrong_lines_are_refused_with_their_place);
    RUN(ids_of_31_characters_are_told_apart);
    RUN(a_cycle_is_named);
    RUN(a_long_cycle_is_named_in_short);
    RUN(what_only_looks_like_a_cycle_is_taken);
    RUN(a_long_chain_is_read_and_closed_it_is_refused);
    RUN(binary_data_and_long_lines_are_refused);
    return check_report();
}
