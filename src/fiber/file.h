/* file.h: reading and writing files, for io.c. */
#ifndef FILCH_FILE_INTERNAL_H
#define FILCH_FILE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Waits for the disk, without its worker. At an offset, -1: where the file is. */
ssize_t file_read(int fd, void *buffer, size_t size, int64_t at);
ssize_t file_write(int fd, const void *buffer, size_t size, int64_t at);

#endif
