/* words.c: the parallel algorithms on one text: a loop, a reduction, a search, a sort.
 *
 * Makes random words, counts their letters (a reduction with a state of 27 counters), looks for the first
 * cat, and sorts them. */
#include <filch/par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 200000, LETTERS = 8 };

typedef struct word {
    char text[LETTERS];
} word;

/* A number that depends on i alone, so that any worker may make word i. */
static uint32_t noise(size_t i)
{
    uint64_t x = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x ^= x >> 29;
    x *= UINT64_C(0xBF58476D1CE4E5B9);
    return (uint32_t)(x >> 32);
}

static void make(size_t lo, size_t hi, void *arg)
{
    word *words = arg;
    for (size_t i = lo; i < hi; i++) {
        size_t length = 1 + noise(i) % (LETTERS - 1);
        memset(&words[i], 0, sizeof words[i]);
        for (size_t k = 0; k < length; k++)
            words[i].text[k] = (char)('a' + noise(i * LETTERS + k) % 26);
    }
}

struct tally {
    size_t letter[26], total;
};

static void tally_range(void *state, size_t lo, size_t hi, void *arg)
{
    struct tally *t = state;
    const word *words = arg;
    for (size_t i = lo; i < hi; i++)
        for (const char *c = words[i].text; *c; c++, t->total++)
            t->letter[*c - 'a']++;
}

static void tally_add(void *state, const void *right, void *arg)
{
    struct tally *t = state;
    const struct tally *r = right;
    (void)arg;
    t->total += r->total;
    for (int k = 0; k < 26; k++)
        t->letter[k] += r->letter[k];
}

static size_t find_cat(size_t lo, size_t hi, void *arg)
{
    const word *words = arg;
    for (size_t i = lo; i < hi; i++)
        if (strcmp(words[i].text, "cat") == 0)
            return i;
    return hi;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const word *)a)->text, ((const word *)b)->text);
}

int main(void)
{
    static const filch_reducer tallying = {sizeof(struct tally), NULL, tally_range, tally_add};
    word *words = malloc(WORDS * sizeof *words);
    struct tally t;
    size_t cat = 0;
    if (!words)
        return 1;
    filch_for(0, WORDS, make, words);
    filch_reduce(&tallying, &t, 0, WORDS, words);
    printf("%d words, %zu letters, %zu of them e\n", WORDS, t.total, t.letter['e' - 'a']);
    if (filch_find_first(0, WORDS, find_cat, words, &cat) > 0)
        printf("the first cat is word %zu\n", cat);
    filch_sort(words, WORDS, sizeof *words, by_text);
    printf("from %s to %s\n", words[0].text, words[WORDS - 1].text);
    free(words);
}
