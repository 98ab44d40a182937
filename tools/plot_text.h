/* plot_text.h: text of any origin, for a terminal and for XML. */
#ifndef PLOT_TEXT_H
#define PLOT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The character at *s, which moves on. U+FFFD for what is no UTF-8 or no character for a document: a control
 * character, a change of direction, a surrogate. */
uint32_t plot_text_next(const char **s);

/* As UTF-8. */
void plot_text_put(FILE *f, uint32_t c);

int plot_text_columns(const char *text);

/* Exactly `columns` columns: cut, or filled up with spaces (before the text if `right`). */
void plot_text_fit(FILE *f, const char *text, int columns, int right);

/* At most `columns` columns. */
void plot_text_cut(FILE *f, const char *text, int columns);

/* The bytes of the first line if no line may be longer than `columns`. *rest: where the next one begins, or
 * null. */
size_t plot_text_line(const char *text, int columns, const char **rest);

/* The first `bytes` bytes. */
void plot_text_print(FILE *f, const char *text, size_t bytes);
void plot_text_xml(FILE *f, const char *text);
void plot_text_xml_part(FILE *f, const char *text, size_t bytes);

#endif
