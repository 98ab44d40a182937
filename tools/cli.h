/* cli.h: what the subcommands of `filch` share. Status: 0 done, 1 a result is wrong or something
 * failed, 2 the request makes no sense. */
#ifndef CLI_H
#define CLI_H

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/* Each gets its own name as argv[0]. */
int demo_main(int argc, char **argv);
int bench_main(int argc, char **argv);
int soak_main(int argc, char **argv);
int info_main(int argc, char **argv);
int sim_main(int argc, char **argv);

/* One line on stderr: what is wrong, and where to read on. Returns CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a failure. Returns CLI_FAILED. */
int cli_fail(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A number from the command line; returns 0 if it is none, or not within the bounds. */
int cli_number(const char *text, long low, long high, int *out);

#endif
