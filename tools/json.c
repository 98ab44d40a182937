#include "json.h"
#include <math.h>

struct json json_open(FILE *to)
{
    fputc('{', to);
    return (struct json){to, 0};
}

void json_close(struct json *j)
{
    fputs("}\n", j->to);
    fflush(j->to);
}

static void quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

static void key_print(struct json *j, const char *key)
{
    if (j->members++)
        fputc(',', j->to);
    quoted(j->to, key);
    fputc(':', j->to);
}

/* Six digits: more would be noise. Whole numbers are printed whole. */
static void number_print(FILE *to, double value)
{
    if (value == floor(value) && fabs(value) < 1e15)
        fprintf(to, "%.0f", value);
    else if (isfinite(value))
        fprintf(to, "%.6g", value);
    else
        fputs("null", to);
}

void json_string(struct json *j, const char *key, const char *value)
{
    key_print(j, key);
    quoted(j->to, value);
}

void json_number(struct json *j, const char *key, double value)
{
    key_print(j, key);
    number_print(j->to, value);
}

void json_bool(struct json *j, const char *key, int value)
{
    key_print(j, key);
    fputs(value ? "true" : "false", j->to);
}

void json_numbers(struct json *j, const char *key, const double *values, int n)
{
    key_print(j, key);
    fputc('[', j->to);
    for (int i = 0; i < n; i++) {
        if (i)
            fputc(',', j->to);
        number_print(j->to, values[i]);
    }
    fputc(']', j->to);
}
