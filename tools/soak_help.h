/* soak_help.h: the help of `filch soak`, for the command and for the program that it starts. */
#ifndef SOAK_HELP_H
#define SOAK_HELP_H

static const char soak_help[] =
    "usage: filch soak [OPTION]...\n\n"
    "Tries to break the library: random mixes of everything it offers, from several threads at once,\n"
    "while threads are paused at random points, wake-ups come early, CPUs change and calls fail. Every\n"
    "task is accounted for: it must run once. A second without progress is a stall.\n\n"
    "  --seconds N    how long (10)\n"
    "  --seed S       the dice, to repeat a run; what the threads do in between is theirs\n"
    "  --phase LIST   only these (separated by commas)\n"
    "  --list         the phases, and what they do\n"
    "  --json         one object per line: each phase, then all\n"
    "  --help         this text\n\n"
    "Ctrl-C ends early, with the table. Status: 0; 1 if a task was lost or ran twice, a result was\n"
    "wrong or something stalled; 2 for a bad request.\n";

#endif
