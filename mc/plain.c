/* plain.c: memory that is not atomic: races, use after free, leaks.
 *
 * The sources under test are compiled with -fsanitize=thread, and the calls that the compiler puts
 * in front of every plain access arrive here. A race is found by clocks, in whatever order the two
 * accesses were executed. Words that are also accessed atomically are checked against both. The bytes
 * of a word share their clocks: a model's own flags of different threads should be words.
 */
#include "mc_internal.h"

#include <string.h>

/* ---- the shadow ----------------------------------------------------------------------------- */

/* Neighbours in memory are neighbours here. */
static inline size_t place_of(uintptr_t key)
{
    return ((key >> 4) * 0x9e3779b97f4a7c15u >> 36) + (key & 15);
}

static inline struct cell *cell_of(uintptr_t address, bool make)
{
    uintptr_t key = address >> 2;
    size_t i = place_of(key) & (MC_CELLS - 1);
    while (mc->cell[i].run == mc->run) {
        if (mc->cell[i].key == key)
            return &mc->cell[i];
        i = (i + 1) & (MC_CELLS - 1);
    }
    if (!make)
        return 0;
    if (mc->cells == MC_CELLS - 1)
        mc_fail("too much memory touched: make the model smaller");
    mc->cell_list[mc->cells++] = (int)i;
    mc->cell[i] = (struct cell){.key = key, .run = mc->run, .write_thread = -1};
    return &mc->cell[i];
}

static inline struct cell_atomic *atomic_of(const struct cell *c)
{
    return &mc->cell_atomic[c - mc->cell];
}

struct cell *mc_cell(uintptr_t address, bool make)
{
    return cell_of(address, make);
}

static bool in_arena(uintptr_t a)
{
    return a - (uintptr_t)mc->arena < mc->arena_used;
}

static bool in_freed_pages(uintptr_t a)
{
    for (int i = 0; mc->freed_pages > 0 && i < mc->chunks; i++)
        if (mc->chunk[i].pages && mc->chunk[i].freed && a - (uintptr_t)mc->chunk[i].p < mc->chunk[i].size)
            return true;
    return false;
}

static void touch(uintptr_t a, size_t size, bool write)
{
    if (!in_arena(a))
        return;
    size_t first = a - (uintptr_t)mc->arena, last = first + size - 1;
    if (mc->freed[first >> 4] || mc->freed[last >> 4] || in_freed_pages(a))
        mc_fail("use after free: %s of %zu bytes", write ? "write" : "read", size);
    if (write)
        for (size_t page = first >> 12; page <= last >> 12; page++)
            mc->touched[page] = 1;
}

static bool before(int thread, uint32_t clock)
{
    return thread == mc->current || mc_me()->cur.clock[thread] >= clock;
}

static void __attribute__((noreturn)) race(const char *mine, const char *theirs, int thread,
                                           uintptr_t address, const struct mc_site *site)
{
    if (site)
        mc_fail("data race: %s of %s (%s:%d) by T%d and %s by T%d are not ordered", mine, site->text,
                site->file, site->line, mc->current, theirs, thread);
    mc_fail("data race at %p: %s by T%d (after the last step below) and %s by T%d are not ordered",
            (void *)address, mine, mc->current, theirs, thread);
}

static void check_against(const uint32_t *clocks, const char *mine, const char *theirs, uintptr_t a,
                          const struct mc_site *site)
{
    for (int i = 0; i < mc->threads; i++)
        if (clocks[i] && !before(i, clocks[i]))
            race(mine, theirs, i, a, site);
}

static void check_last_write(const struct cell *c, uint8_t mask, const char *mine, uintptr_t a,
                             const struct mc_site *site)
{
    if (c->write_thread >= 0 && (c->write_mask & mask) && !before(c->write_thread, c->write_clock))
        race(mine, "plain write", c->write_thread, a, site);
}

static void plain_cell(uintptr_t a, uint8_t mask, bool write)
{
    struct cell *c = cell_of(a, mc->threads > 1);
    if (!c)
        return;
    if (c->loc && write)
        mc->loc[c->loc - 1].dirty = true;
    if (mc->threads == 1)
        return; /* before there is anybody else */
    uint32_t clock = mc_me()->cur.clock[mc->current];
    check_last_write(c, mask, write ? "plain write" : "plain read", a, 0);
    if (c->atomic) {
        check_against(atomic_of(c)->write, write ? "plain write" : "plain read", "atomic write", a, 0);
        if (write)
            check_against(atomic_of(c)->read, "plain write", "atomic read", a, 0);
    }
    if (write) {
        if (c->read_mask & mask)
            check_against(c->read_clock, "plain write", "plain read", a, 0);
        c->write_thread = (int8_t)mc->current;
        c->write_clock = clock;
        c->write_mask = (uint8_t)(c->write_mask | mask);
    } else {
        c->read_clock[mc->current] = clock;
        c->read_mask = (uint8_t)(c->read_mask | mask);
    }
}

static void plain(const void *p, size_t size, bool write)
{
    if (!mc || !mc->running || size == 0)
        return;
    uintptr_t a = (uintptr_t)p, end = a + size;
    touch(a, size, write);
    while (a < end) {
        uintptr_t next = (a | 3) + 1;
        if (next > end)
            next = end;
        uint8_t mask = (uint8_t)(((1u << (next - a)) - 1) << (a & 3));
        plain_cell(a & ~(uintptr_t)3, mask, write);
        a = next;
    }
}

static bool concurrent(const uint32_t *clocks)
{
    for (int i = 0; i < mc->threads; i++)
        if (clocks[i] && !before(i, clocks[i]))
            return true;
    return false;
}

void mc_atomic_access(const void *p, unsigned size, bool write, const struct mc_site *site)
{
    touch((uintptr_t)p, size, write);
    uint32_t clock = mc_me()->cur.clock[mc->current];
    for (unsigned i = 0; i < size; i += 4) {
        struct cell *c = cell_of((uintptr_t)p + i, true);
        const char *mine = write ? "atomic write" : "atomic read";
        check_last_write(c, 15, mine, (uintptr_t)p, site);
        if (write)
            check_against(c->read_clock, mine, "plain read", (uintptr_t)p, site);
        struct cell_atomic *by = atomic_of(c);
        if (!c->atomic)
            *by = (struct cell_atomic){0};
        c->atomic = true;
        if (concurrent(by->write) || (write && concurrent(by->read)))
            mc_note_conflict(p);
        (write ? by->write : by->read)[mc->current] = clock;
    }
}

/* ---- allocation ------------------------------------------------------------------------------ */

void mc_plain_reset(void)
{
    mc->cells = 0;
    size_t pages = (mc->arena_used + 4095) >> 12;
    for (size_t i = 0; i < pages; i++)
        if (mc->touched[i])
            memset(mc->arena + (i << 12), 0, 4096);
    memset(mc->touched, 0, pages);
    for (int i = 0; i < mc->chunks; i++)
        if (mc->chunk[i].freed && !mc->chunk[i].pages)
            memset(mc->freed + ((size_t)(mc->chunk[i].p - mc->arena) >> 4), 0, (mc->chunk[i].size + 15) >> 4);
    mc->freed_pages = 0;
    mc->arena_used = 0;
    mc->chunks = 0;
}

void *mc_arena_take(size_t size, size_t align, bool pages)
{
    if (align < 16)
        align = 16;
    size_t at = (mc->arena_used + 16 + align - 1) & ~(align - 1); /* apart, for overruns */
    if (at + size > MC_ARENA || mc->chunks == (int)(sizeof mc->chunk / sizeof mc->chunk[0]))
        mc_fail("too much memory allocated: make the model smaller");
    mc->arena_used = at + size;
    mc->chunk[mc->chunks++] = (struct chunk){mc->arena + at, size, false, pages};
    if (!pages)
        for (size_t page = at >> 12; page <= (at + size) >> 12; page++)
            mc->touched[page] = 1;
    return mc->arena + at;
}

static void check_cell_quiet(const struct cell *c)
{
    uintptr_t a = c->key << 2;
    check_last_write(c, 15, "free", a, 0);
    check_against(c->read_clock, "free", "plain read", a, 0);
    if (!c->atomic)
        return;
    check_against(atomic_of(c)->write, "free", "atomic write", a, 0);
    check_against(atomic_of(c)->read, "free", "atomic read", a, 0);
}

/* What others did with it must be over. By its words or by all that were touched, whichever are fewer. */
static void check_quiet(const struct chunk *k)
{
    uintptr_t first = (uintptr_t)k->p; /* aligned */
    if (k->size / 4 < (size_t)mc->cells) {
        for (uintptr_t a = first; a < first + k->size; a += 4) {
            const struct cell *c = cell_of(a, false);
            if (c)
                check_cell_quiet(c);
        }
        return;
    }
    for (int i = 0; i < mc->cells; i++) {
        const struct cell *c = &mc->cell[mc->cell_list[i]];
        if ((c->key << 2) - first < k->size)
            check_cell_quiet(c);
    }
}

void mc_arena_free(void *p)
{
    for (int i = 0; p && i < mc->chunks; i++) {
        struct chunk *k = &mc->chunk[i];
        if (k->p != p)
            continue;
        if (k->freed)
            mc_fail("freed twice");
        check_quiet(k);
        k->freed = true;
        if (k->pages)
            mc->freed_pages++;
        else
            memset(mc->freed + ((size_t)(k->p - mc->arena) >> 4), 1, (k->size + 15) >> 4);
        return;
    }
    if (p)
        mc_fail("free of something that was not allocated");
}

void mc_check_leaks(void)
{
    size_t bytes = 0;
    int n = 0;
    for (int i = 0; i < mc->chunks; i++)
        if (!mc->chunk[i].freed) {
            bytes += mc->chunk[i].size;
            n++;
        }
    if (n > 0)
        mc_fail("leak: %d allocations, %zu bytes, are not freed", n, bytes);
}

/* ---- what the compiler calls ------------------------------------------------------------------ */

#define ACCESS(n)                                                                                 \
    void __tsan_read##n(void *p);                                                                 \
    void __tsan_write##n(void *p);                                                                \
    void __tsan_unaligned_read##n(void *p);                                                       \
    void __tsan_unaligned_write##n(void *p);                                                      \
    void __tsan_read##n(void *p) { plain(p, n, false); }                                          \
    void __tsan_write##n(void *p) { plain(p, n, true); }                                          \
    void __tsan_unaligned_read##n(void *p) { plain(p, n, false); }                                \
    void __tsan_unaligned_write##n(void *p) { plain(p, n, true); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_init(void);
void __tsan_func_entry(void *pc);
void __tsan_func_exit(void);
void __tsan_read_range(void *p, unsigned long size);
void __tsan_write_range(void *p, unsigned long size);
void *__tsan_memcpy(void *to, const void *from, unsigned long size);
void *__tsan_memmove(void *to, const void *from, unsigned long size);
void *__tsan_memset(void *to, int byte, unsigned long size);
void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}
void __tsan_read_range(void *p, unsigned long size) { plain(p, size, false); }
void __tsan_write_range(void *p, unsigned long size) { plain(p, size, true); }
void *__tsan_memcpy(void *to, const void *from, unsigned long size)
{
    plain(from, size, false);
    plain(to, size, true);
    return memcpy(to, from, size);
}
void *__tsan_memmove(void *to, const void *from, unsigned long size)
{
    plain(from, size, false);
    plain(to, size, true);
    return memmove(to, from, size);
}
void *__tsan_memset(void *to, int byte, unsigned long size)
{
    plain(to, size, true);
    return memset(to, byte, size);
}
