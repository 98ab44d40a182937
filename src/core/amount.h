/* amount.h: how many of n items a thief takes, by policy. */
#ifndef FILCH_CORE_AMOUNT_H
#define FILCH_CORE_AMOUNT_H

#include <filch.h>

static inline uint64_t amount_of(enum filch_steal how, uint64_t n)
{
    switch (how) {
    case FILCH_STEAL_ONE:
        return n > 0;
    case FILCH_STEAL_QUARTER:
        return n / 4 + (n % 4 > 0);
    case FILCH_STEAL_THREE:
        return n - n / 4;
    case FILCH_STEAL_ALL:
        return n;
    case FILCH_STEAL_FLOOR:
        return n / 2;
    case FILCH_STEAL_HALF:
        break;
    }
    return n - n / 2;
}

#endif
