/* json.h: objects on one line. */
#ifndef JSON_H
#define JSON_H

#include <stdio.h>

struct json {
    FILE *to;
    int members;
};

struct json json_open(FILE *to);
void json_close(struct json *j); /* with the end of the line, and flushed */
void json_string(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, int value);
void json_numbers(struct json *j, const char *key, const double *values, int n);

#endif
