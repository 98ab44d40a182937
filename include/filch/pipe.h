/* filch/pipe.h: pipelines: items go through stages, many at once.
 *
 *     #include <filch/pipe.h>
 *
 *     static int read_one(void **item, void *file)   // no item: the end
 *     {
 *         *item = next_block(file);
 *         return 0;
 *     }
 *     static int pack(void **item, void *unused)  { return compress(*item); }
 *     static int write_one(void **item, void *to) { return append(to, *item); }
 *     ...
 *     filch_stage stages[] = {
 *         {read_one,  from, FILCH_STAGE_IN_ORDER, "read"},
 *         {pack,      NULL, FILCH_STAGE_PARALLEL, "pack"},
 *         {write_one, to,   FILCH_STAGE_IN_ORDER, "write"},
 *     };
 *     int rc = filch_pipe_run(stages, 3, free_block, NULL);
 *
 * There are no queues between the stages. A task takes an item from the source and carries it from stage to
 * stage itself, while it is warm. At a serial stage that is not free the item is left there, and
 * whoever comes out sees to it; so nobody waits for a stage, and the memory needed is known beforehand.
 *
 * Stages may wait (channels, locks, time, joins): meanwhile the worker carries other items. They may fork,
 * run loops and other pipelines. They run on large stacks, and may come out on another thread than they
 * went in.
 */
#ifndef FILCH_PIPE_H
#define FILCH_PIPE_H

#include <filch/how.h>

#ifdef __cplusplus
extern "C" {
#endif

enum filch_stage_kind {
    FILCH_STAGE_IN_ORDER, /* one item at a time, in the order of the source              */
    FILCH_STAGE_SERIAL,   /* one at a time, as they come                                 */
    FILCH_STAGE_PARALLEL, /* any number at once                                          */
};

/* The first stage is the source: it finds no item in *item and leaves the next one there, or none (null) at
 * the end; then it is not called again. If it is parallel, the order of the items is that in which its calls
 * return, and other calls may still bring items when one has found the end.
 *
 * The others find an item in *item and may put another one in its place. To leave null filters it out: it
 * does not come to later stages, and those that keep the order do not wait for it. The last stage consumes
 * the item, whatever it leaves.
 *
 * Returns 0, or an error (what is not 0), which stops the pipeline; what is in *item then is dropped like the
 * rest, unless it is null. */
typedef struct filch_stage {
    int (*run)(void **item, void *arg);
    void *arg;
    enum filch_stage_kind kind;
    const char *name;     /* of the task while it is in there, in dumps and messages; borrowed; or null */
} filch_stage;

/* Runs it to its end. Returns 0 if every item came through (or was filtered out); or the first error of a
 * stage; or -ECANCELED if the caller's scope, or that of filch_how, was cancelled or late; or -ENOMEM, or
 * -EPIPE (the pool is shut down). Unless it is 0, no more items are made, waits in stages return
 * -ECANCELED, and when all tasks have ended `drop` (may be null) is called by the caller, once for each
 * item that was in flight. Any thread; may wait; may resume on another thread. */
FILCH_API int filch_pipe_run(const filch_stage *stages, size_t count, void (*drop)(void *item, void *arg),
                             void *arg);

/* The same with at most `tokens` items in flight (0: four for each worker), and the number of those that
 * the last stage has taken in *through (may be null), also if it did not end well. how->workers is the
 * number of items that are worked on at once, those among them that wait; how->grain and how->split have no
 * meaning here. A caller that is pinned, or whose pool has join=help, carries all items itself. */
FILCH_API int filch_pipe_run_with(const filch_how *how, const filch_stage *stages, size_t count,
                                  size_t tokens, void (*drop)(void *item, void *arg), void *arg,
                                  size_t *through);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_PIPE_H */
