/* sha1.h: SHA-1 of messages that fit one block, given and returned as big-endian words. */
#ifndef SHA1_H
#define SHA1_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* digest = SHA-1 of `words` words (at most 13) of `message`. */
void sha1_words(uint32_t digest[5], const uint32_t *message, int words);

#ifdef __cplusplus
}
#endif
#endif
