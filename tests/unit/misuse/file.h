/* misuse/file.h: rows about filch/file.h. */
#include <fcntl.h>
#include <filch/file.h>

static void open_null(void) { (void)filch_open(0, O_RDONLY, 0); }
static void pread_null(void) { (void)filch_pread(0, 0, 1, 0); }
static void pwrite_null(void) { (void)filch_pwrite(1, 0, 1, 0); }

static void file_no_descriptor(void *unused)
{
    static const int numbers[] = {-1, INT_MIN, INT_MAX, 1 << 20, 900};
    char byte = 0;
    (void)unused;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        CHECK_EQ(filch_pread(numbers[i], &byte, 1, 0), -EBADF);
        CHECK_EQ(filch_pwrite(numbers[i], &byte, 1, 0), -EBADF);
        CHECK_EQ(filch_fsync(numbers[i]), -EBADF);
    }
    CHECK_EQ(filch_open("", O_RDONLY, 0), -ENOENT);
    CHECK_EQ(filch_open("/no/such/file", O_RDONLY, ~0u), -ENOENT);
    CHECK(filch_open("/", O_RDWR, 0) < 0);
    CHECK_EQ(filch_pread(0, &byte, 1, -1), -EINVAL);
    CHECK_EQ(filch_pwrite(1, &byte, 1, INT64_MIN), -EINVAL);
}
static void file_answers(void)
{
    file_no_descriptor(0);
    make_pool();
    run_as_job(pool, file_no_descriptor, 0);
}

#define ROWS_FILE                                                                                 \
    SAYS("filch_open", open_null, "null"),                                                        \
    SAYS("filch_pread", pread_null, "null"),                                                      \
    SAYS("filch_pwrite", pwrite_null, "null"),                                                    \
    ANSWERS("filch_open filch_pread filch_pwrite filch_fsync", file_answers),
