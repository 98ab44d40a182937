/* filch/how.h: how a parallel algorithm runs. Every algorithm has a form with `_with` that takes one of
 * these; null means the default, and so does zero in each field. Start from FILCH_HOW_INIT. */
#ifndef FILCH_HOW_H
#define FILCH_HOW_H

#include <filch/scope.h>

#ifdef __cplusplus
extern "C" {
#endif

enum filch_split {       /* into how many pieces                                              */
    FILCH_SPLIT_AUTO,    /* as many as thieves ask for, each long enough to be worth it       */
    FILCH_SPLIT_STATIC,  /* one for each worker, of the same size give or take one element    */
};

typedef struct filch_how {
    size_t size;            /* of this structure                                              */
    const char *name;       /* in dumps and messages; borrowed                                */
    filch_pool *pool;       /* null: the current one, or the default one                      */
    filch_scope *scope;     /* cancelled with it as well as with the caller's own; null: none. What
                               bodies wait for ends with the caller's alone                   */
    size_t grain;           /* fewest elements of a piece, if there are so many; 0: found out while it
                               runs                                                           */
    int workers;            /* at most so many pieces at once, those that wait among them; 0: as many as
                               workers become idle                                            */
    enum filch_split split;
    void *scratch;          /* memory for algorithms that need some; null: allocated ...      */
    size_t scratch_size;    /* ... this many bytes                                            */
} filch_how;

#define FILCH_HOW_INIT { sizeof(filch_how), NULL, NULL, NULL, 0, 0, FILCH_SPLIT_AUTO, NULL, 0 }

#ifdef __cplusplus
}
#endif
#endif /* FILCH_HOW_H */
