/* main.c: the command `filch`, a table of subcommands. */
#include "cli.h"
#include "term.h"
#include <filch.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int help_main(int argc, char **argv);
static int version_main(int argc, char **argv);

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"demo", demo_main, "run real work serially and on all workers, and compare"},
    {"bench", bench_main, "measure fork-join, stealing, idling; against other runtimes too"},
    {"soak", soak_main, "try to break the library, and account for every task"},
    {"sim", sim_main, "simulate stealing workers in virtual time: policies, scenarios, theory"},
    {"info", info_main, "what the library sees of this machine, and the policy in force"},
    {"help", help_main, "this text, or that of a subcommand"},
    {"version", version_main, "version of the library"},
};
#define COMMANDS (sizeof commands / sizeof *commands)

static const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

static void complain(const char *command, const char *format, va_list args)
{
    fprintf(stderr, command ? "filch %s: " : "filch: ", command);
    vfprintf(stderr, format, args);
}

int cli_usage(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(command, format, args);
    va_end(args);
    if (command)
        fprintf(stderr, "; see 'filch %s --help'\n", command);
    else
        fprintf(stderr, "; see 'filch help'\n");
    return CLI_USAGE;
}

int cli_fail(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(command, format, args);
    va_end(args);
    fputc('\n', stderr);
    return CLI_FAILED;
}

int cli_number(const char *text, long low, long high, int *out)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        return 0;
    *out = (int)value;
    return 1;
}

static void help_print(FILE *to)
{
    fputs("usage: filch COMMAND [OPTION]...\n\n", to);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fputs("\n'filch COMMAND --help' says more about one. Start with 'filch demo'.\n", to);
}

static int help_main(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help")) {
        help_print(stdout);
        return CLI_OK;
    }
    const struct command *c = command_find(argv[1]);
    if (!c)
        return cli_usage(NULL, "there is no subcommand '%s'", argv[1]);
    if (c->run == help_main)
        return help_main(1, argv);
    char option[] = "--help";
    char *ask[] = {argv[1], option, NULL};
    return c->run(2, ask);
}

static int version_main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--help"))
        puts("usage: filch version\n\nPrints the version of the library.");
    else if (argc > 1)
        return cli_usage("version", "'%s' is not expected", argv[1]);
    else
        printf("filch %s\n", filch_version());
    return CLI_OK;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        help_print(stderr);
        return CLI_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help_main(1, argv);
    if (!strcmp(argv[1], "--version"))
        return version_main(1, argv);
    const struct command *c = command_find(argv[1]);
    if (!c)
        return cli_usage(NULL, "there is no subcommand '%s'", argv[1]);
    return c->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int status = run(argc, argv);
    return status == CLI_OK && term_output_lost("filch") ? CLI_FAILED : status;
}
