# paths.awk: compares the figures of two runs of scripts/paths.sh, or puts new ones into the stored list. Plain POSIX awk.
# usage: awk -v mode=compare -v tolerance=0.5 [-v other=NAME] [-v cases=REGEX] [-v measures=REGEX] -f paths.awk STORED NOW
#        awk -v mode=merge [-v cases=REGEX] [-v measures=REGEX] -f paths.awk STORED NOW    prints what is to be stored
# A list: the compiler and the machine in the first line (`# gcc 12.2.0 x86_64`), then `CASE MEASURE FIGURE`. The
# measure is what was counted: `executed` instructions per operation, `instructions` and `operands` of a function.
# compare: a table, a case that was not stored, one that is gone; status 1 if a figure rose by more than `tolerance`
# percent or a case is gone, 77 if compiler or machine differ, 2 if a list is wrong.

FNR == 1 { input++; header[input] = $0; next }
/^ *(#|$)/ { next }
!is_line() {
    printf "%s:%d: \"%s\" is not CASE MEASURE FIGURE\n", FILENAME, FNR, $0
    wrong = 1
    next
}
input == 1 { lines++; key[lines] = $1 " " $2; old[key[lines]] = $3; next }
{ news++; new_key[news] = $1 " " $2; now[new_key[news]] = $3 }
END {
    if (input < 2) { print "paths: a list is empty"; wrong = 1 }
    if (wrong) exit 2
    if (mode == "merge") merge()
    else exit compare()
}

function is_line() { return NF == 3 && $3 ~ /^[0-9]+([.][0-9]+)?$/ }

# Is this a figure that would have been measured by this run?
function chosen(k,    part)
{
    split(k, part, " ")
    return (measures == "" || part[2] ~ measures) && (cases == "" || part[1] ~ cases)
}

# ---- compare ---------------------------------------------------------------------------------------

function compare(    i, bad)
{
    if (header[1] != header[2]) {
        printf "paths: stored for \"%s\", here is \"%s\": not compared\n", substr(header[1], 3), substr(header[2], 3)
        return 77
    }
    printf "%-40s %12s %12s %8s\n", "case", "now", other == "" ? "stored" : other, "ratio"
    for (i = 1; i <= news; i++)
        bad += judge(new_key[i])
    for (i = 1; i <= lines; i++)
        if (chosen(key[i]) && !(key[i] in now)) {
            printf "%-40s %12s %12s %8s  gone\n", key[i], "-", old[key[i]], "-"
            bad++
        }
    return bad > 0
}

function judge(k,    was, is, limit, ratio, verdict)
{
    is = now[k] + 0
    if (!(k in old)) {
        printf "%-40s %12s %12s %8s  not stored\n", k, now[k], "-", "-"
        return 0
    }
    was = old[k] + 0
    limit = was * tolerance / 100
    ratio = (was > 0) ? sprintf("%.4f", is / was) : "-"
    verdict = (is - was > limit) ? "  rose" : (was - is > limit) ? "  fell" : ""
    printf "%-40s %12s %12s %8s%s\n", k, now[k], old[k], ratio, verdict
    return verdict == "  rose"
}

# ---- merge -----------------------------------------------------------------------------------------

# What this run did not measure stays, if it is of the same compiler and machine.
function merge(    i)
{
    print header[2]
    print "# scripts/paths.sh --update writes this; docs/testing.md, \"Ruler\"."
    for (i = 1; i <= lines && header[1] == header[2]; i++) {
        if (key[i] in now) line(key[i], now[key[i]])
        else if (!chosen(key[i])) line(key[i], old[key[i]])
        written[key[i]] = 1
    }
    for (i = 1; i <= news; i++)
        if (!(new_key[i] in written)) line(new_key[i], now[new_key[i]])
}

function line(k, figure,    part)
{
    split(k, part, " ")
    printf "%-28s %-12s %10s\n", part[1], part[2], figure
}
