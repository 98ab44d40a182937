/* sha1.c: FIPS 180-4, one block. Unrolled, with the message schedule in a window of 16 words: the
 * benchmarks call it once per node of a tree, and every runtime shares this object. */
#include "sha1.h"

#define ROL(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#define NEXT(i)                                                                                   \
    (w[(i)&15] = ROL(w[((i) + 13) & 15] ^ w[((i) + 8) & 15] ^ w[((i) + 2) & 15] ^ w[(i)&15], 1))
#define CHOOSE(b, c, d) ((((c) ^ (d)) & (b)) ^ (d))
#define PARITY(b, c, d) ((b) ^ (c) ^ (d))
#define MAJORITY(b, c, d) (((b) & (c)) | (((b) | (c)) & (d)))

#define ROUND(a, b, c, d, e, f, k, word)                                                          \
    do {                                                                                          \
        e += ROL(a, 5) + f(b, c, d) + (k) + (word);                                               \
        b = ROL(b, 30);                                                                           \
    } while (0)
#define FIVE(f, k, word, i)                                                                       \
    ROUND(a, b, c, d, e, f, k, word((i)));                                                        \
    ROUND(e, a, b, c, d, f, k, word((i) + 1));                                                    \
    ROUND(d, e, a, b, c, f, k, word((i) + 2));                                                    \
    ROUND(c, d, e, a, b, f, k, word((i) + 3));                                                    \
    ROUND(b, c, d, e, a, f, k, word((i) + 4))
#define TWENTY(f, k, i)                                                                           \
    FIVE(f, k, NEXT, i);                                                                          \
    FIVE(f, k, NEXT, (i) + 5);                                                                    \
    FIVE(f, k, NEXT, (i) + 10);                                                                   \
    FIVE(f, k, NEXT, (i) + 15)
#define GIVEN(i) w[i]

/* Aligned, so that programs which are compared do not differ by where it happens to lie. */
__attribute__((aligned(64))) void sha1_words(uint32_t digest[5], const uint32_t *message, int words)
{
    static const uint32_t start[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    uint32_t w[16] = {0};
    uint32_t a = start[0], b = start[1], c = start[2], d = start[3], e = start[4];

    for (int i = 0; i < words; i++)
        w[i] = message[i];
    w[words] = 0x80000000;
    w[15] = (uint32_t)words * 32;

    FIVE(CHOOSE, 0x5a827999, GIVEN, 0);
    FIVE(CHOOSE, 0x5a827999, GIVEN, 5);
    FIVE(CHOOSE, 0x5a827999, GIVEN, 10);
    ROUND(a, b, c, d, e, CHOOSE, 0x5a827999, w[15]);
    ROUND(e, a, b, c, d, CHOOSE, 0x5a827999, NEXT(16));
    ROUND(d, e, a, b, c, CHOOSE, 0x5a827999, NEXT(17));
    ROUND(c, d, e, a, b, CHOOSE, 0x5a827999, NEXT(18));
    ROUND(b, c, d, e, a, CHOOSE, 0x5a827999, NEXT(19));
    TWENTY(PARITY, 0x6ed9eba1, 20);
    TWENTY(MAJORITY, 0x8f1bbcdc, 40);
    TWENTY(PARITY, 0xca62c1d6, 60);

    digest[0] = start[0] + a;
    digest[1] = start[1] + b;
    digest[2] = start[2] + c;
    digest[3] = start[3] + d;
    digest[4] = start[4] + e;
}
