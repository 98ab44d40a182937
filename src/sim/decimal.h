/* decimal.h: decimal numbers in text, read and written with integers only.
 *
 * A number is digits, or digits, a point and digits: 5, 0.25, 1000000. No sign, no exponent, no blanks,
 * no hexadecimal, no infinity; ".5" and "5." are refused. The result does not depend on the locale, the
 * compiler or the libc.
 */
#ifndef FILCH_SIM_DECIMAL_H
#define FILCH_SIM_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#define DECIMAL_ONE 1000000000 /* decimal_parse and decimal_print count in billionths */
#define DECIMAL_UNIT_MAX ((int64_t)1 << 59)

enum decimal_result { DECIMAL_OK, DECIMAL_NONE, DECIMAL_LARGE };

/* Reads the number at *text, times `unit`, rounded to the nearest integer (half upwards), and moves *text
 * behind it. DECIMAL_NONE: there is no number; DECIMAL_LARGE: the result would be above `most`. In both
 * cases *text stays. unit is 1 .. DECIMAL_UNIT_MAX, most is 0 .. DECIMAL_UNIT_MAX. Any number of digits
 * is exact. */
enum decimal_result decimal_scan(const char **text, int64_t unit, int64_t most, int64_t *out);

/* A whole text that is one number from least to most, in billionths: "0.3" gives 300000000. `what` names
 * it in the message. 0 or -EINVAL. */
int decimal_parse(const char *text, const char *what, int64_t least, int64_t most, int64_t *out,
                  char *message, size_t size);

/* value / unit exactly, at most `digits` digits after the point and no trailing zeros; returns the length
 * as snprintf does, or -1 if the value needs more digits. value >= 0. */
int decimal_print(char *to, size_t size, int64_t value, int64_t unit, int digits);

#endif
