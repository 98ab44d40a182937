#include "sim/taskfile.h"
#include "base/rng.h"
#include "sim/lines.h"
#include "sim/refuse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 6,
    TO_RESOLVE = -2, /* parent: its id is in refs[] */
    MOST_REFS = 50000000,
};

/* An id that a task names. The ids of one task follow each other: its parent first, if it has one. */
struct ref {
    char id[TASK_ID_SIZE];
};

/* A list that is being read. */
struct reading {
    struct lines lines;
    struct task_list *list;
    size_t room;
    struct ref *refs;
    size_t n_refs, refs_room;
    int *table; /* hash of ids: index of a task, or -1 */
    size_t mask;
    char *message;
    size_t size;
};

#define A_LINE "a line is: id time worker duration"

/* A message about the line being read, or about another one. */
#define REFUSE_AT(r, line, format, ...)                                                           \
    sim_refuse((r)->message, (r)->size, "%s:%zu: " format, (r)->lines.name, (size_t)(line), ##__VA_ARGS__)
#define REFUSE(r, ...) REFUSE_AT(r, (r)->lines.number, __VA_ARGS__)

static int no_memory(struct reading *r)
{
    (void)REFUSE(r, "no memory for more tasks");
    return -ENOMEM;
}

/* ---- one line --------------------------------------------------------------------------------- */

static int cut_columns(struct reading *r, char **column, int *n)
{
    char *rest = r->lines.text, *save = NULL;
    *n = 0;
    for (char *word; (word = strtok_r(rest, " \t\r", &save)); rest = NULL) {
        if (*n == COLUMNS)
            return REFUSE(r, "more than %d columns; " A_LINE " [parent] [after=ID,...]", COLUMNS);
        column[(*n)++] = word;
    }
    if (*n < 4)
        return REFUSE(r, "%d columns; " A_LINE " [parent] [after=ID,...]", *n);
    return 0;
}

static bool is_given(const char *word)
{
    return strcmp(word, "-") != 0 && strcmp(word, "*") != 0;
}

static int take_id(struct reading *r, const char *word, size_t length, char *id)
{
    bool good = length > 0 && length < TASK_ID_SIZE && strncmp(word, "after=", 6) != 0 &&
                !(length == 1 && (*word == '-' || *word == '*'));
    for (size_t i = 0; good && i < length; i++)
        good = word[i] > ' ' && word[i] <= '~' && word[i] != ',';
    if (!good)
        return REFUSE(r, "\"%.*s\" is no id; 1 to %d printable characters without a comma are needed",
                      length < 40 ? (int)length : 40, word, TASK_ID_SIZE - 1);
    memset(id, 0, TASK_ID_SIZE);
    memcpy(id, word, length);
    return 0;
}

static int take_time(struct reading *r, const char *what, const char *word, sim_time *out)
{
    char why[160];
    if (sim_time_parse(word, out, why, sizeof why))
        return REFUSE(r, "%s: %s", what, why);
    return 0;
}

static int take_worker(struct reading *r, const char *word, int *worker)
{
    size_t digits = strspn(word, "0123456789");
    if (word[digits] || digits > 9)
        return REFUSE(r, "worker \"%.40s\"; a number from 0, or * for any, is needed", word);
    *worker = 0;
    for (size_t i = 0; i < digits; i++)
        *worker = *worker * 10 + (word[i] - '0');
    return 0;
}

static int add_ref(struct reading *r, const char *word, size_t length)
{
    if (r->n_refs == MOST_REFS)
        return REFUSE(r, "more than %d ids of parents and behind after=", MOST_REFS);
    if (r->n_refs == r->refs_room) {
        size_t room = r->refs_room ? r->refs_room * 2 : 64;
        struct ref *refs = realloc(r->refs, room * sizeof *refs);
        if (!refs)
            return no_memory(r);
        r->refs = refs;
        r->refs_room = room;
    }
    return take_id(r, word, length, r->refs[r->n_refs++].id);
}

static int take_parent(struct reading *r, struct task_line *t, const char *word)
{
    if (t->at)
        return REFUSE(r, "a time and a parent; the time of what a parent spawns is -");
    t->parent = TO_RESOLVE;
    return add_ref(r, word, strlen(word));
}

static int take_after(struct reading *r, struct task_line *t, const char *ids)
{
    for (;;) {
        size_t length = strcspn(ids, ",");
        int rc = add_ref(r, ids, length);
        if (rc)
            return rc;
        t->n_after++;
        if (!ids[length])
            return 0;
        ids += length + 1;
    }
}

/* Columns 5 and 6: a parent, after=, or both in this order. */
static int take_links(struct reading *r, struct task_line *t, char **column, int n)
{
    int i = 4, rc = 0;
    if (i < n && strncmp(column[i], "after=", 6) != 0) {
        if (is_given(column[i]))
            rc = take_parent(r, t, column[i]);
        i++;
    }
    if (!rc && i < n && strncmp(column[i], "after=", 6) == 0)
        rc = take_after(r, t, column[i++] + 6);
    if (!rc && i < n)
        return REFUSE(r, "\"%.40s\" in column %d; only after=ID,... may stand there", column[i], i + 1);
    return rc;
}

static int take_line(struct reading *r, struct task_line *t)
{
    char *column[COLUMNS];
    int n, rc = cut_columns(r, column, &n);
    *t = (struct task_line){.worker = -1, .parent = -1, .line = (unsigned)r->lines.number};
    if (!rc)
        rc = take_id(r, column[0], strlen(column[0]), t->id);
    if (!rc && is_given(column[1]))
        rc = take_time(r, "time", column[1], &t->at);
    if (!rc && is_given(column[2]))
        rc = take_worker(r, column[2], &t->worker);
    if (!rc)
        rc = take_time(r, "duration", column[3], &t->duration);
    return rc ? rc : take_links(r, t, column, n);
}

static int read_all(struct reading *r)
{
    struct task_list *list = r->list;
    int got;
    while ((got = lines_next(&r->lines, r->message, r->size)) == 1) {
        if (list->n == r->room) {
            size_t room = r->room ? r->room * 2 : 64;
            struct task_line *task = realloc(list->task, room * sizeof *task);
            if (!task)
                return no_memory(r);
            list->task = task;
            r->room = room;
        }
        int rc = take_line(r, &list->task[list->n]);
        if (rc)
            return rc;
        list->n++;
    }
    if (got == 0 && list->n == 0)
        return sim_refuse(r->message, r->size, "%s: no task in it; " A_LINE, r->lines.name);
    return got;
}

/* ---- ids become indices ------------------------------------------------------------------------ */

static size_t hash_of(const char *id)
{
    uint64_t hash = 0, word;
    for (int i = 0; i < TASK_ID_SIZE; i += 8) {
        memcpy(&word, id + i, sizeof word);
        hash = rng_mix(hash ^ word);
    }
    return (size_t)hash;
}

/* Where the id stands in the table, or the free place for it. */
static int *find_place(struct reading *r, const char *id)
{
    size_t i = hash_of(id) & r->mask;
    while (r->table[i] >= 0 && memcmp(r->list->task[r->table[i]].id, id, TASK_ID_SIZE) != 0)
        i = (i + 1) & r->mask;
    return &r->table[i];
}

static int make_table(struct reading *r)
{
    size_t size = 16;
    while (size < 2 * r->list->n)
        size *= 2;
    r->table = malloc(size * sizeof *r->table);
    if (!r->table)
        return no_memory(r);
    r->mask = size - 1;
    memset(r->table, 0xff, size * sizeof *r->table);
    for (size_t i = 0; i < r->list->n; i++) {
        struct task_line *t = &r->list->task[i];
        int *place = find_place(r, t->id);
        if (*place >= 0)
            return REFUSE_AT(r, t->line, "id %s a second time, the first is in line %u; ids are unique",
                             t->id, r->list->task[*place].line);
        *place = (int)i;
    }
    return 0;
}

static int resolve(struct reading *r, const struct task_line *t, const struct ref *ref, int *out)
{
    *out = *find_place(r, ref->id);
    if (*out < 0)
        return REFUSE_AT(r, t->line, "task %s names %s, which is not defined; it needs a line of its own",
                         t->id, ref->id);
    return 0;
}

static int resolve_all(struct reading *r)
{
    struct task_list *list = r->list;
    const struct ref *ref = r->refs;
    list->edges = malloc((r->n_refs ? r->n_refs : 1) * sizeof *list->edges);
    if (!list->edges)
        return no_memory(r);
    int *edge = list->edges;
    for (struct task_line *t = list->task; t < list->task + list->n; t++) {
        int rc = t->parent == TO_RESOLVE ? resolve(r, t, ref++, &t->parent) : 0;
        t->after = edge;
        for (unsigned k = 0; !rc && k < t->n_after; k++)
            rc = resolve(r, t, ref++, edge++);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- cycles ------------------------------------------------------------------------------------- */

enum { CYCLE_TEXT = 300 };

/* A depth-first search without recursion. path[] is the way from the start of the search to where it is;
 * next[i] is the link that task i follows next, plus one; 0: not reached. */
struct search {
    const struct task_list *list;
    unsigned *next;
    int *path;
    size_t length;
};

#define LEFT UINT32_MAX /* next[]: all that comes before this task has been searched */

/* The k-th of the tasks that come before this one: after[], then the parent. -1: there are no more. */
static int link_of(const struct task_line *t, unsigned k)
{
    if (k < t->n_after)
        return t->after[k];
    return k == t->n_after ? t->parent : -1;
}

/* Appends " -> ID" as far as there is room. */
static void append(char *text, const char *id)
{
    size_t n = strlen(text);
    snprintf(text + n, CYCLE_TEXT - n, "%s%s", n ? " -> " : "", id);
}

/* path[first ...] is a cycle. It is named from the task that stands first in the file. */
static int name_cycle(struct reading *r, const struct search *s, size_t first)
{
    char text[CYCLE_TEXT] = "";
    const struct task_line *task = s->list->task;
    size_t n = s->length - first, start = 0;
    for (size_t i = 1; i < n; i++)
        if (s->path[first + i] < s->path[first + start])
            start = i;
    for (size_t i = 0; i <= n; i++) {
        if (i == 6 && n > 8) {
            append(text, "...");
            i = n - 1;
        }
        append(text, task[s->path[first + (start + i) % n]].id);
    }
    return REFUSE_AT(r, task[s->path[first + start]].line, "cycle: %s; each waits for the next one", text);
}

static size_t place_on_path(const struct search *s, int task)
{
    size_t i = s->length - 1;
    while (s->path[i] != task)
        i--;
    return i;
}

static int search_from(struct reading *r, struct search *s, int start)
{
    s->path[0] = start;
    s->length = 1;
    s->next[start] = 1;
    while (s->length) {
        int here = s->path[s->length - 1], before = link_of(&s->list->task[here], s->next[here] - 1);
        if (before < 0) {
            s->next[here] = LEFT;
            s->length--;
            continue;
        }
        s->next[here]++;
        if (s->next[before] == LEFT)
            continue;
        if (s->next[before])
            return name_cycle(r, s, place_on_path(s, before));
        s->next[before] = 1;
        s->path[s->length++] = before;
    }
    return 0;
}

static int find_cycle(struct reading *r)
{
    size_t n = r->list->n;
    struct search s = {.list = r->list};
    s.next = calloc(n, sizeof *s.next);
    s.path = malloc(n * sizeof *s.path);
    int rc = s.next && s.path ? 0 : no_memory(r);
    for (size_t i = 0; !rc && i < n; i++)
        if (s.next[i] == 0)
            rc = search_from(r, &s, (int)i);
    free(s.next);
    free(s.path);
    return rc;
}

/* ---- entry points ------------------------------------------------------------------------------- */

static int read_list(struct reading *r)
{
    *r->list = (struct task_list){0};
    int rc = read_all(r);
    if (!rc)
        rc = make_table(r);
    if (!rc)
        rc = resolve_all(r);
    free(r->table);
    free(r->refs);
    r->table = NULL;
    if (!rc)
        rc = find_cycle(r);
    if (rc)
        task_list_free(r->list);
    return rc;
}

int task_list_read(struct task_list *out, FILE *from, const char *name, char *message, size_t size)
{
    struct reading r = {.list = out, .message = message, .size = size};
    lines_from_file(&r.lines, from, name);
    return read_list(&r);
}

int task_list_parse(struct task_list *out, const void *data, size_t length, const char *name, char *message,
                    size_t size)
{
    struct reading r = {.list = out, .message = message, .size = size};
    lines_from_memory(&r.lines, data, length, name);
    return read_list(&r);
}

void task_list_free(struct task_list *list)
{
    free(list->task);
    free(list->edges);
    *list = (struct task_list){0};
}
