/* plot_page.c: one file of HTML. Its policy forbids every request; the pictures are part of it. */
#include "plot.h"
#include "plot_svg.h"
#include "plot_text.h"
#include <ctype.h>
#include <string.h>

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<meta name=\"generator\" content=\"filch\">\n"
    "<link rel=\"icon\" href=\"data:,\">\n";

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fff;--text:#1b1f24;--soft:#555d66;--line:#d9dde2;--panel:#f5f6f8;"
    "--accent:#0067a5}\n"
    "@media (prefers-color-scheme:dark){:root{--bg:#15181c;--text:#e6e9ed;--soft:#a9b1ba;--line:#333a42;"
    "--panel:#1d2127;--accent:#5cb8f0}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--bg);color:var(--text);font:16px/1.55 system-ui,-apple-system,'Segoe UI',"
    "Roboto,'Noto Sans',sans-serif;overflow-wrap:break-word}\n"
    "main{max-width:75rem;margin:0 auto;padding:1.5rem 1rem 4rem}\n"
    "main:not(:has(>.broad)){max-width:60rem}\n"
    "main>*{max-width:46rem}\n"
    "main>.broad,main>.scroll{max-width:none}\n"
    "h1{font-size:1.75rem;line-height:1.2;margin:1rem 0 .25rem}\n"
    "h2{font-size:1.25rem;line-height:1.3;margin:2.5rem 0 .5rem}\n"
    "p{margin-top:.6rem;margin-bottom:.6rem}\n"
    ".subtitle,figcaption,caption{color:var(--soft)}\n"
    "figure{margin:1rem 0}\n"
    "svg{display:block;width:100%;height:auto}\n"
    ".p-narrow{display:none}\n"
    "@media (max-width:560px){.p-wide{display:none}.p-narrow{display:block}}\n"
    ".scroll{overflow:auto;margin-top:1rem;margin-bottom:1rem}\n"
    "pre.scroll{max-height:24rem;font:.8rem/1.45 ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;"
    "border:1px solid var(--line);border-radius:6px;padding:.5rem .8rem}\n"
    "table{border-collapse:collapse;width:max-content;font-variant-numeric:tabular-nums;font-size:.94rem}\n"
    "caption{text-align:left;padding-bottom:.4rem}\n"
    "th,td{padding:.3rem .8rem;text-align:left;border-bottom:1px solid var(--line);"
    "vertical-align:top;max-width:26rem}\n"
    "th:first-child,td:first-child{padding-left:0}\n"
    "th{font-weight:600;border-bottom-color:var(--soft)}\n"
    ".n{text-align:right;white-space:nowrap}\n"
    "details{border:1px solid var(--line);border-radius:6px;padding:.5rem .9rem;margin-top:1rem;"
    "margin-bottom:1rem}\n"
    "summary{cursor:pointer;font-weight:600}\n"
    "dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.2rem 1.2rem;margin:.6rem 0}\n"
    "dt{color:var(--soft);min-width:0}dd{margin:0;min-width:0;overflow-wrap:anywhere}\n"
    ":focus-visible{outline:3px solid var(--accent);outline-offset:2px}\n";

static void element(FILE *f, const char *tag, const char *css_class, const char *text)
{
    fprintf(f, "<%s", tag);
    if (css_class)
        fprintf(f, " class=\"%s\"", css_class);
    fputc('>', f);
    plot_text_xml(f, text);
    fprintf(f, "</%s>\n", tag);
}

void plot_page_begin(FILE *f, const char *title, const char *subtitle)
{
    fputs(head, f);
    element(f, "title", NULL, title);
    fprintf(f, "<style>\n%s", style);
    plot_svg_style(f);
    fputs("\n</style>\n</head>\n<body>\n<main>\n", f);
    element(f, "h1", NULL, title);
    if (subtitle)
        element(f, "p", "subtitle", subtitle);
}

void plot_page_heading(FILE *f, const char *text)
{
    element(f, "h2", NULL, text);
}

void plot_page_text(FILE *f, const char *text)
{
    element(f, "p", NULL, text);
}

/* Twice, as text in a picture that is scaled down could not be read on a small screen. The style shows
 * one of the two. */
void plot_page_plot(FILE *f, const struct plot *p)
{
    fputs("<figure>\n", f);
    plot_svg_part(f, p, PLOT_WIDE, "p-wide");
    plot_svg_part(f, p, PLOT_NARROW, "p-narrow");
    fputs("</figure>\n", f);
}

static int is_number(const char *cell)
{
    while (*cell && strchr("+-~<>=.( ", *cell))
        cell++;
    return isdigit((unsigned char)*cell);
}

static int is_number_column(const char *const *cells, size_t columns, size_t rows, size_t column)
{
    for (size_t i = 0; i < rows; i++)
        if (*cells[i * columns + column] && !is_number(cells[i * columns + column]))
            return 0;
    return rows > 0;
}

void plot_page_table(FILE *f, const char *caption, const char *const *header, size_t columns,
                     const char *const *cells, size_t rows)
{
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", f);
    plot_text_xml(f, caption ? caption : "Table");
    fputs("\">\n<table>\n", f);
    if (caption)
        element(f, "caption", NULL, caption);
    fputs("<thead><tr>\n", f);
    for (size_t i = 0; i < columns; i++)
        element(f, "th", is_number_column(cells, columns, rows, i) ? "n" : NULL, header[i]);
    fputs("</tr></thead>\n<tbody>\n", f);
    for (size_t i = 0; i < rows; i++) {
        fputs("<tr>\n", f);
        for (size_t k = 0; k < columns; k++)
            element(f, "td", is_number(cells[i * columns + k]) ? "n" : NULL, cells[i * columns + k]);
        fputs("</tr>\n", f);
    }
    fputs("</tbody>\n</table>\n</div>\n", f);
}

void plot_page_parameters(FILE *f, const char *summary, const char *const *names, const char *const *values,
                          size_t n)
{
    fputs("<details>\n", f);
    element(f, "summary", NULL, summary);
    fputs("<dl>\n", f);
    for (size_t i = 0; i < n; i++) {
        element(f, "dt", NULL, names[i]);
        element(f, "dd", NULL, values[i]);
    }
    fputs("</dl>\n</details>\n", f);
}

void plot_page_end(FILE *f)
{
    fputs("</main>\n</body>\n</html>\n", f);
}
