/* demo.h: the pieces of work that `filch demo` shows. Each has a serial form in plain C and a
 * parallel form on a pool, and can tell whether their results agree. */
#ifndef DEMO_H
#define DEMO_H

#include <filch.h>
#include <stddef.h>

struct demo_work {
    const char *name;
    int (*prepare)(int quick); /* 0, or -1 without memory; `quick`: a small size */
    void (*serial)(void);
    void (*parallel)(filch_pool *pool);
    int (*right)(void); /* both results agree, and are what they should be */
    void (*describe)(char *out, size_t size);
};

extern const struct demo_work demo_tree, demo_queens, demo_sort, demo_mandelbrot;

/* The picture, after it was made: to a file (.pgm or .ppm; 0 or -errno), and in characters. */
int demo_mandelbrot_named(const char *path); /* is this a name that save understands? */
int demo_mandelbrot_save(const char *path);
void demo_mandelbrot_preview(void);

/* What each worker did, as bars. */
void demo_workers(filch_pool *pool);

#endif
