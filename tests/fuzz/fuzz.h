/* fuzz.h: what the fuzz targets share.
 *
 * A target gets bytes, makes of them what an attacker could, and states claims with FUZZ_CHECK.
 * It includes the source that parses, with the calls that reach the machine replaced by macros,
 * so that what runs is the product's code, in a process that has no other input than the bytes.
 */
#ifndef FILCH_TESTS_FUZZ_H
#define FILCH_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says which claim broke; supplied by replay.c. Under libFuzzer the stack trace has to do. */
void fuzz_broken(const char *file, int line, const char *claim) __attribute__((weak));

#define FUZZ_CHECK(cond)                                                                          \
    do {                                                                                          \
        if (!(cond)) {                                                                            \
            if (fuzz_broken)                                                                      \
                fuzz_broken(__FILE__, __LINE__, #cond);                                           \
            abort();                                                                              \
        }                                                                                         \
    } while (0)

/* The bytes as a C string in memory of exactly its size, so that reading past its end is seen.
 * Ends at the first zero byte. */
static inline char *fuzz_string(const uint8_t *data, size_t size)
{
    size_t n = size ? strnlen((const char *)data, size) : 0;
    char *text = malloc(n + 1);
    if (!text)
        abort();
    if (n)
        memcpy(text, data, n);
    text[n] = '\0';
    return text;
}

/* Cuts the bytes at the first line feed: returns the length of the line, and what follows it. */
static inline size_t fuzz_line(const uint8_t *data, size_t size, const uint8_t **rest, size_t *left)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t n = end ? (size_t)(end - data) : size;
    *rest = end ? end + 1 : data + size;
    *left = end ? size - n - 1 : 0;
    return n;
}

#endif
