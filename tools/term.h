/* term.h: what is drawn for people. */
#ifndef TERM_H
#define TERM_H

#include <stddef.h>
#include <stdio.h>

int term_is(FILE *f);     /* is it a terminal?                     */
int term_columns(void);   /* of standard output; 80 if not known   */
int term_unicode(void);   /* may it show block characters?         */

/* At the end of a program: 0 if all that was printed is written; else 1, and a line on stderr. */
int term_output_lost(const char *command);

/* A line on stderr that the next one replaces; nothing if stderr is not a terminal. */
void term_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void term_progress_end(void);

/* A bar of `fraction` (0 to 1) of `width` cells into `out`, filled up with spaces. */
void term_bar(char *out, size_t size, double fraction, int width);

/* A cell of a picture, from 0 (empty) to 1 (full). */
const char *term_shade(double level);

#endif
