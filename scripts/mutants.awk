# The lists of seeded breaks (tests/mutants/*.txt; the format is explained in scripts/mutants.sh).
#   awk -v mode=index -f mutants.awk LIST...                 a line per break, fields with | between
#   awk -v mode=apply -v id=ID -v list=LIST -f mutants.awk FILE   the file with the break in it
# Status 3 and a message if the list is wrong or its text is not where it should be.

function trim(text)
{
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}

function wrong(message)
{
    print message | "cat >&2"
    close("cat >&2")
    failed = 1
    exit 3
}

# "[id] key=value ..." into head[]; a word without = is a key of its own.
function read_head(line,    words, n, i, at)
{
    split("", head)
    at = index(line, "]")
    head["id"] = substr(line, 2, at - 2)
    n = split(substr(line, at + 1), words, /[ \t]+/)
    for (i = 1; i <= n; i++) {
        at = index(words[i], "=")
        if (at > 0)
            head[substr(words[i], 1, at - 1)] = substr(words[i], at + 1)
        else if (words[i] != "")
            head[words[i]] = 1
    }
}

# ---- index ----------------------------------------------------------------------------------------

function flush_break(    word)
{
    if (!("id" in head))
        return
    if (head["file"] == "" || pairs == 0 || seen[head["id"]]++)
        wrong(where ": [" head["id"] "] has no file, no text, or the name of another")
    if (("by" in head) == ("equivalent" in head))
        wrong(where ": [" head["id"] "] needs by= or `equivalent`, and not both")
    if (("equivalent" in head) && !argued)
        wrong(where ": [" head["id"] "] has no argument (`> ` lines) why it is equivalent")
    for (word in head)
        if (word !~ /^(id|file|by|equivalent|model|args|nth|sample)$/)
            wrong(where ": [" head["id"] "] what is " word "?")
    gsub(/,/, " ", head["by"])
    gsub(/,/, " ", head["args"])
    gsub(/,/, " ", head["model"])
    print head["id"] "|" where "|" head["file"] "|" head["by"] "|" head["model"] "|" head["args"] \
        "|" head["sample"] "|" head["equivalent"]
}

mode == "index" && FNR == 1 { flush_break(); split("", head) }
mode == "index" && /^\[/ { flush_break(); read_head($0); where = FILENAME; pairs = argued = 0; next }
mode == "index" && /^-/ { pairs++; next }
mode == "index" && /^>/ { argued = 1; next }
mode == "index" && !/^(#|\+|[ \t]*$)/ { wrong(FILENAME ":" FNR ": not a line of a list: " $0) }

# ---- apply ----------------------------------------------------------------------------------------

# Pair p: old[p, 1 .. height[p]] are lines that stand below each other, fresh[p] is what comes there.
function read_break(    line, inside, last)
{
    inside = 0
    while ((getline line < list) > 0) {
        if (line ~ /^\[/) {
            if (inside)
                break
            read_head(line)
            inside = head["id"] == id
            nth = inside ? head["nth"] : ""
        } else if (inside && line ~ /^-/) {
            if (last != "-")
                fresh[++pairs] = ""
            old[pairs, ++height[pairs]] = trim(substr(line, 2))
        } else if (inside && line ~ /^\+/) {
            fresh[pairs] = fresh[pairs] (last == "+" ? "\n" : "") trim(substr(line, 2))
        }
        last = substr(line, 1, 1)
    }
}

function lines_below_match(p, i,    j)
{
    for (j = 2; j <= height[p]; j++)
        if (index(line_of[i + j - 1], old[p, j]) == 0)
            return 0
    return 1
}

# How often pair p is found; row[p] and column[p] say where the n-th begins.
function locate(p, n,    i, at, from, found)
{
    found = 0
    for (i = 1; i <= lines; i++) {
        from = 1
        while ((at = index(substr(line_of[i], from), old[p, 1])) > 0) {
            if (lines_below_match(p, i) && ++found == n) {
                row[p] = i
                column[p] = from + at - 1
            }
            from += at - 1 + length(old[p, 1])
        }
    }
    return found
}

function find_pair(p,    found, n)
{
    n = nth ? nth : 1
    found = locate(p, n)
    if (found == 0)
        wrong("not found: " old[p, 1])
    if (nth ? found < n : found > 1)
        wrong("found " found " times: " old[p, 1])
}

# Lines keep their number until all is replaced: what a block has more than one is emptied.
function replace(p,    end, last, rest)
{
    end = row[p] + height[p] - 1
    last = old[p, height[p]]
    rest = height[p] == 1 ? column[p] : index(line_of[end], last)
    rest = substr(line_of[end], rest + length(last))
    line_of[row[p]] = substr(line_of[row[p]], 1, column[p] - 1) fresh[p] rest
    for (; end > row[p]; end--)
        gone[end] = 1
}

mode == "apply" { line_of[++lines] = $0 }

END {
    if (failed)
        exit 3
    if (mode == "index") {
        flush_break()
        exit failed ? 3 : 0
    }
    read_break()
    for (p = 1; p <= pairs; p++)
        find_pair(p)
    for (p = pairs; p > 0; p--)
        replace(p)
    for (i = 1; i <= lines; i++)
        if (!gone[i])
            print line_of[i]
}
