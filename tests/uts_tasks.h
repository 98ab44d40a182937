/* uts_tasks.h: the trees of bench/common/uts.h, counted by fork-join in both kinds of task. */
#ifndef FILCH_TESTS_UTS_TASKS_H
#define FILCH_TESTS_UTS_TASKS_H

#include "../bench/common/uts.c"
#include "../tools/sha1.c"
#include "forking.h"

typedef const struct uts_tree *tree_ref;
typedef const struct uts_node *node_ref;

#define UTS_TASK(KIND, visit)                                                                     \
    KIND(struct uts_count, visit, tree_ref, tree, node_ref, parent, int, number)                  \
    {                                                                                             \
        struct uts_node node;                                                                     \
        if (parent)                                                                               \
            uts_child(parent, number, &node);                                                     \
        else                                                                                      \
            uts_root(tree, &node);                                                                \
        int children = uts_children(tree, &node);                                                 \
        struct uts_count count = uts_count_node(&node, children);                                 \
        if (children == 0)                                                                        \
            return count;                                                                         \
        FILCH_FORKS(later, visit);                                                                \
        for (int i = children - 1; i > 0; i--)                                                    \
            FILCH_FORK_ADD(visit, tree, &node, i);                                                \
        uts_count_add(&count, FILCH_CALL(visit, tree, &node, 0));                                 \
        while (FILCH_FORKS_LEFT(later))                                                           \
            uts_count_add(&count, FILCH_JOIN_LAST(visit, later));                                 \
        return count;                                                                             \
    }

UTS_TASK(FILCH_TASK, uts_visit)
UTS_TASK(FILCH_TASK_BOUNDED, uts_visit_bounded)

/* By plain calls: what small trees, of which nothing is published, are measured by. */
CHECK_UNUSED_ static struct uts_count uts_serial(tree_ref tree, node_ref node)
{
    int children = uts_children(tree, node);
    struct uts_count count = uts_count_node(node, children);
    for (int i = 0; i < children; i++) {
        struct uts_node child;
        uts_child(node, i, &child);
        uts_count_add(&count, uts_serial(tree, &child));
    }
    return count;
}

CHECK_UNUSED_ static struct uts_count uts_count_on(filch_pool *pool, tree_ref tree, int bounded)
{
    return bounded ? FILCH_RUN_ON(pool, uts_visit_bounded, tree, (node_ref)0, 0)
                   : FILCH_RUN_ON(pool, uts_visit, tree, (node_ref)0, 0);
}

#endif
