/* refuse.h: one line of text that says why an input was refused. */
#ifndef FILCH_SIM_REFUSE_H
#define FILCH_SIM_REFUSE_H

#include <stddef.h>

/* Formats the message into message[size] (cut if it does not fit; nothing is written if size is 0) and
 * returns -EINVAL, so that a parser can `return sim_refuse(...)`. Bytes that do not print become '?':
 * a message may show what stood in a file. */
__attribute__((format(printf, 3, 4)))
int sim_refuse(char *message, size_t size, const char *format, ...);

#endif
