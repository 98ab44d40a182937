#ifndef FILCH_RADIX_H
#define FILCH_RADIX_H
#endif
