#include "plot_text.h"
#include <string.h>

static const uint32_t replacement = 0xfffd;

static int is_tail(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static int may_appear(uint32_t c)
{
    int control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    int direction = (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
    int surrogate = c >= 0xd800 && c <= 0xdfff;
    return !control && !direction && !surrogate && (c & 0xfffe) != 0xfffe && c <= 0x10ffff;
}

uint32_t plot_text_next(const char **s)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*(*s)++;
    int tails = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if ((first >= 0x80 && first < 0xc0) || first >= 0xf8)
        return replacement;
    uint32_t c = tails ? first & (0x3fu >> tails) : first;
    for (int i = 0; i < tails; i++) {
        if (!is_tail(**s))
            return replacement;
        c = c << 6 | ((unsigned char)*(*s)++ & 0x3f);
    }
    if (c == '\n' || c == '\t')
        return ' ';
    return c >= least[tails] && may_appear(c) ? c : replacement;
}

/* East Asian characters and pictures take two columns, combining marks none. */
static int columns_of(uint32_t c)
{
    static const uint32_t wide[][2] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},
                                       {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60},
                                       {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    if ((c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f))
        return 0;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (c >= wide[i][0] && c <= wide[i][1])
            return 2;
    return 1;
}

int plot_text_columns(const char *text)
{
    int columns = 0;
    while (*text && columns < 1000000)
        columns += columns_of(plot_text_next(&text));
    return columns;
}

void plot_text_put(FILE *f, uint32_t c)
{
    if (c < 0x80)
        fputc((int)c, f);
    else if (c < 0x800)
        fprintf(f, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
    else if (c < 0x10000)
        fprintf(f, "%c%c%c", (int)(0xe0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
    else
        fprintf(f, "%c%c%c%c", (int)(0xf0 | c >> 18), (int)(0x80 | (c >> 12 & 0x3f)),
                (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
}

static void spaces(FILE *f, int n)
{
    if (n > 0)
        fprintf(f, "%*s", n, "");
}

static int print_cut(FILE *f, const char *text, int columns)
{
    int used = 0;
    while (*text) {
        uint32_t c = plot_text_next(&text);
        if (used + columns_of(c) > columns)
            break;
        used += columns_of(c);
        plot_text_put(f, c);
    }
    return used;
}

void plot_text_cut(FILE *f, const char *text, int columns)
{
    print_cut(f, text, columns);
}

void plot_text_fit(FILE *f, const char *text, int columns, int right)
{
    int before = right ? columns - plot_text_columns(text) : 0;
    before = before < 0 ? 0 : before;
    spaces(f, before);
    spaces(f, columns - before - print_cut(f, text, columns - before));
}

size_t plot_text_line(const char *text, int columns, const char **rest)
{
    const char *at = text, *space = NULL;
    for (int used = 0; *at;) {
        const char *before = at;
        uint32_t c = plot_text_next(&at);
        if (used && used + columns_of(c) > columns) {
            const char *end = space ? space : before;
            *rest = space ? space + 1 : before;
            return (size_t)(end - text);
        }
        used += columns_of(c);
        if (c == ' ')
            space = before;
    }
    *rest = NULL;
    return (size_t)(at - text);
}

void plot_text_print(FILE *f, const char *text, size_t bytes)
{
    for (const char *end = text + bytes; text < end;)
        plot_text_put(f, plot_text_next(&text));
}

void plot_text_xml_part(FILE *f, const char *text, size_t bytes)
{
    for (const char *end = text + bytes; text < end;) {
        uint32_t c = plot_text_next(&text);
        switch (c) {
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '&': fputs("&amp;", f); break;
        case '"': fputs("&quot;", f); break;
        case '\'': fputs("&#39;", f); break;
        default: plot_text_put(f, c);
        }
    }
}

void plot_text_xml(FILE *f, const char *text)
{
    plot_text_xml_part(f, text, strlen(text));
}
