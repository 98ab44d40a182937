/* scale.h: how much of a test is done: as written, or less where every access is checked. */
#ifndef FILCH_TESTS_SCALE_H
#define FILCH_TESTS_SCALE_H

#include <filch/ord.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifndef WITH_ASAN
#define WITH_ASAN 0
#endif
#ifdef FILCH_TSAN
#define WITH_TSAN 1
#else
#define WITH_TSAN 0
#endif

#define SCALED(plain, asan, tsan) (WITH_TSAN ? (tsan) : WITH_ASAN ? (asan) : (plain))

#endif
