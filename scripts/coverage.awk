# coverage.awk: adds up what gcov says of all programs. Plain POSIX awk.
# usage: awk -v page=OUT.html -v gate=95 -f coverage.awk tests/coverage.txt SOURCES-FILE GCOV-FILE
# SOURCES-FILE: every source of the three rooms, a name per line. GCOV-FILE: `gcov -t -b` of all programs.
# Prints the table, the lines not covered with their reasons, and the total; status 1 below the gate.

FNR == 1 { input++ }
input == 1 { reason_read(); next }
input == 2 { known[$1] = 1; next }
/^ *-: +0:Source:/ {
    file = $0
    sub(/^ *-: +0:Source:/, "", file)
    function_name = ""
    next
}
!(file in known) { next }
/^ *([0-9]+[*]?|#####|=====|-): *[0-9]+:/ { line_read() }
END { if (NR) finish() }

# file:function | text of the line | reason     (an empty part matches anything)
function reason_read(    part, at)
{
    if ($0 ~ /^ *(#|$)/) return
    split($0, part, /[ ]*[|][ ]*/)
    reasons++
    at = index(part[1], ":")
    reason_file[reasons] = at ? substr(part[1], 1, at - 1) : part[1]
    reason_function[reasons] = at ? substr(part[1], at + 1) : ""
    reason_text[reasons] = part[2]
    reason_why[reasons] = part[3]
}

function line_read(    count, rest, number, text)
{
    count = $0
    sub(/:.*/, "", count)
    gsub(/[ *]/, "", count)
    rest = $0
    sub(/^[^:]*: */, "", rest)
    number = rest + 0
    text = rest
    sub(/^[0-9]+:/, "", text)
    if (number == 0) return
    if (text ~ /^[A-Za-z_].*[(].*[^;]$/) function_name = name_of(text, function_name)
    if (!(file in last)) files[++file_count] = file
    if (number > last[file] + 0) last[file] = number
    source[file, number] = text
    if (count == "-" || is_declaration(text)) return
    code[file, number] = 1
    if (function_name != "") owner[file, number] = function_name
    if (count !~ /^[#=]/) hits[file, number] += count
}

# `char line[512];`: the code that gcov sees there is the stack protector's.
function is_declaration(text)
{
    return text ~ /^ +((static|const|struct|unsigned) )*[a-z_0-9]+ [*]*[a-z_0-9]+([[][^]]*[]])?(, [*]*[a-z_0-9]+)*;/ &&
        text !~ /^ +(return|goto) /
}

# The function that a line in the first column begins: the word before its first bracket.
function name_of(text, before)
{
    gsub(/__attribute__ *[(][(][^)]*([(][^)]*[)])?[^)]*[)][)]/, "", text)
    if (!match(text, /[A-Za-z_][A-Za-z_0-9]* *[(]/)) return before
    text = substr(text, RSTART, RLENGTH)
    gsub(/[ (]/, "", text)
    return text
}

function reason_of(f, name, text,    i)
{
    for (i = 1; i <= reasons; i++) {
        if (reason_file[i] != f) continue
        if (reason_function[i] != "" && reason_function[i] != name) continue
        if (reason_text[i] != "" && index(text, reason_text[i]) == 0) continue
        reason_used[i] = 1
        return reason_why[i]
    }
    return ""
}

function percent(part, whole)
{
    return whole ? 100 * part / whole : 100
}

function finish(    i, f, n)
{
    sort_files()
    for (i = 1; i <= file_count; i++) {
        f = files[i]
        for (n = 1; n <= last[f]; n++) {
            if (!((f, n) in code)) continue
            total[f]++
            if (hits[f, n] > 0) covered[f]++
        }
        all_total += total[f]
        all_covered += covered[f]
    }
    table_print()
    missing_print()
    page_write()
    printf "total: %d of %d lines, %.2f %% (at least %s %% wanted), %d uncovered lines without a reason\n",
        all_covered, all_total, percent(all_covered, all_total), gate, unexplained
    if (all_total == 0 || percent(all_covered, all_total) < gate) exit 1
}

function sort_files(    i, j, f)
{
    for (i = 2; i <= file_count; i++) {
        f = files[i]
        for (j = i - 1; j >= 1 && files[j] > f; j--) files[j + 1] = files[j]
        files[j + 1] = f
    }
}

function table_print(    i, f)
{
    printf "%-32s %7s %7s %8s\n", "file", "lines", "covered", "percent"
    for (i = 1; i <= file_count; i++) {
        f = files[i]
        if (total[f])
            printf "%-32s %7d %7d %8.2f\n", f, total[f], covered[f] + 0, percent(covered[f], total[f])
    }
    print ""
}

function missing_print(    i, f, n, why, text)
{
    print "not covered:"
    for (i = 1; i <= file_count; i++) {
        f = files[i]
        for (n = 1; n <= last[f]; n++) {
            if (!((f, n) in code) || hits[f, n] > 0) continue
            why = reason_of(f, owner[f, n], source[f, n])
            if (why == "") { why = "NO REASON in tests/coverage.txt"; unexplained++ }
            note[f, n] = why
            text = source[f, n]
            sub(/^ +/, "", text)
            printf "  %s:%d: %s: %s\n      %s\n", f, n, owner[f, n], text, why
        }
    }
    absent_print()
    for (i = 1; i <= reasons; i++)
        if (!reason_used[i])
            printf "  (covered this time: %s%s | %s)\n", reason_file[i],
                (reason_function[i] == "" ? "" : ":" reason_function[i]), reason_text[i]
    print ""
}

# Sources that no program of this build has code of.
function absent_print(    f, why)
{
    for (f in known) {
        if (total[f] || f !~ /[.][cS]$/) continue
        why = reason_of(f, "", "")
        if (why == "") { why = "NO REASON in tests/coverage.txt"; unexplained++ }
        printf "  %s: not in this build\n      %s\n", f, why
    }
}

# ---- the page ----------------------------------------------------------------------------------

function escape(text)
{
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    gsub(/"/, "\\&quot;", text)
    return text
}

function page_write(    i, f, n, kind)
{
    if (page == "") return
    print "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>filch: line coverage</title><style>" > page
    print "body{font:14px/1.4 sans-serif;margin:2em;max-width:75em}table{border-collapse:collapse}" > page
    print "td,th{padding:.1em .8em;text-align:right}td:first-child,th:first-child{text-align:left}" > page
    print "pre{font:12px/1.35 monospace;tab-size:4}pre span{display:block;white-space:pre-wrap}" > page
    print ".y{background:#e6f4e6}.n{background:#fbd9d3}.e{background:#fdf0c4}i{color:#888;font-style:normal}" > page
    print "</style><h1>Line coverage</h1>" > page
    printf "<p>%d of %d lines of src/base, src/os and src/core: <b>%.2f %%</b>. ", all_covered, all_total,
        percent(all_covered, all_total) > page
    print "Green: run by a test. Yellow: not run, for the reason that stands beside it. Red: not run.</p>" > page
    print "<table><tr><th>file<th>lines<th>covered<th>percent</tr>" > page
    for (i = 1; i <= file_count; i++) {
        f = files[i]
        if (total[f])
            printf "<tr><td><a href=\"#%s\">%s</a><td>%d<td>%d<td>%.2f</tr>\n", f, f, total[f],
                covered[f] + 0, percent(covered[f], total[f]) > page
    }
    print "</table>" > page
    for (i = 1; i <= file_count; i++) {
        f = files[i]
        if (!total[f]) continue
        printf "<h2 id=\"%s\">%s</h2>\n<pre>", f, f > page
        for (n = 1; n <= last[f]; n++) {
            kind = !((f, n) in code) ? "" : hits[f, n] > 0 ? "y" : note[f, n] ~ /^NO REASON/ ? "n" : "e"
            printf "<span class=\"%s\"><i>%5d %10s</i>  %s%s</span>\n", kind, n,
                kind == "" ? "" : hits[f, n] + 0, escape(source[f, n]),
                ((f, n) in note) ? "  <i>" escape(note[f, n]) "</i>" : "" > page
        }
        print "</pre>" > page
    }
    print "</html>" > page
    close(page)
}
