/* ready.h: a set of numbers that gives out its lowest.
 *
 * A bit for each number, and above each 64 words a word that says which of them are not 0, up to a single
 * word at the top. To put a number in or to take the lowest out touches one word on each level: four for a
 * million. No shared fields: whoever has one has a lock.
 */
#ifndef FILCH_READY_H
#define FILCH_READY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define READY_LEVELS 6 /* 64^6 numbers */
#define READY_NONE UINT32_MAX

struct ready {
    uint64_t *word[READY_LEVELS];
    unsigned levels;
    size_t words; /* all together, from word[0] on */
};

/* How many words a set of the numbers below n needs. */
static inline size_t ready_words(size_t n)
{
    size_t all = 0;
    do {
        n = n / 64 + 1;
        all += n;
    } while (n > 1);
    return all;
}

static inline void ready_clear(struct ready *s)
{
    memset(s->word[0], 0, s->words * sizeof(uint64_t));
}

static inline void ready_init(struct ready *s, size_t n, uint64_t *words)
{
    s->levels = 0;
    s->words = ready_words(n);
    do {
        n = n / 64 + 1;
        s->word[s->levels++] = words;
        words += n;
    } while (n > 1);
    ready_clear(s);
}

static inline bool ready_empty(const struct ready *s)
{
    return s->word[s->levels - 1][0] == 0;
}

static inline void ready_put(struct ready *s, uint32_t number)
{
    for (unsigned level = 0; level < s->levels; level++, number /= 64) {
        uint64_t *word = &s->word[level][number / 64], was = *word;
        *word = was | (uint64_t)1 << number % 64;
        if (was != 0)
            return;
    }
}

/* READY_NONE if there is none. */
static inline uint32_t ready_take(struct ready *s)
{
    uint32_t lowest = 0, at;
    if (ready_empty(s))
        return READY_NONE;
    for (unsigned level = s->levels; level-- > 0;)
        lowest = lowest * 64 + (uint32_t)__builtin_ctzll(s->word[level][lowest]);
    at = lowest;
    for (unsigned level = 0; level < s->levels; level++, at /= 64) {
        uint64_t *word = &s->word[level][at / 64];
        *word &= ~((uint64_t)1 << at % 64);
        if (*word != 0)
            break;
    }
    return lowest;
}

#endif
