/* markup.h: a check that XML is well formed. It reads as much of the language as tools/plot*.c prints. */
#ifndef FILCH_TESTS_MARKUP_H
#define FILCH_TESTS_MARKUP_H

#include "../check.h"
#include <ctype.h>

enum { MARKUP_DEPTH = 32, MARKUP_NAME = 40 };

struct markup {
    const char *at;
    int depth;
    char open[MARKUP_DEPTH][MARKUP_NAME];
};

static void markup_name(struct markup *m, char name[MARKUP_NAME])
{
    int n = 0;
    while (isalnum((unsigned char)*m->at) || *m->at == '-' || *m->at == ':') {
        CHECK(n < MARKUP_NAME - 1);
        name[n++] = *m->at++;
    }
    CHECK_MSG(n > 0, "no name at: %.40s", m->at);
    name[n] = 0;
}

/* One character of text: no markup, no control character, UTF-8 whose first byte tells its length. */
static void markup_character(struct markup *m)
{
    unsigned char c = (unsigned char)*m->at++;
    if (c == '&') {
        static const char *const entities[] = {"lt;", "gt;", "amp;", "quot;", "#39;"};
        int known = 0;
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            known |= strncmp(m->at, entities[i], strlen(entities[i])) == 0;
        CHECK_MSG(known, "entity: %.20s", m->at);
        return;
    }
    CHECK_MSG(c == '\n' || c >= 0x20, "control character %d", c);
    CHECK(c < 0x80 || (c >= 0xc2 && c < 0xf5));
    for (int tails = c < 0xc0 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3; tails > 0; tails--)
        CHECK(((unsigned char)*m->at++ & 0xc0) == 0x80);
}

static void markup_attributes(struct markup *m)
{
    char name[MARKUP_NAME];
    while (*m->at == ' ') {
        m->at++;
        markup_name(m, name);
        CHECK_MSG(strncmp(m->at, "=\"", 2) == 0, "attribute %s without a value", name);
        for (m->at += 2; *m->at != '"';) {
            CHECK_MSG(*m->at && *m->at != '<', "in the value of %s", name);
            markup_character(m);
        }
        m->at++;
    }
}

static void markup_tag(struct markup *m)
{
    char name[MARKUP_NAME];
    int closes = *m->at == '/';
    m->at += closes;
    markup_name(m, name);
    if (closes) {
        CHECK_MSG(m->depth > 0 && strcmp(m->open[m->depth - 1], name) == 0, "</%s> closes nothing", name);
        m->depth--;
    } else {
        markup_attributes(m);
        if (*m->at == '/')
            m->at++;
        else {
            CHECK(m->depth < MARKUP_DEPTH);
            strcpy(m->open[m->depth++], name);
        }
    }
    CHECK_MSG(*m->at == '>', "the end of <%s is missing: %.40s", name, m->at);
    m->at++;
}

static void markup_check(const char *text)
{
    struct markup m = {.at = text};
    while (*m.at) {
        CHECK_MSG(*m.at != '>', "a > in text: %.40s", m.at);
        if (*m.at == '<') {
            m.at++;
            markup_tag(&m);
        } else {
            markup_character(&m);
        }
    }
    CHECK_EQ(m.depth, 0);
}

#endif
