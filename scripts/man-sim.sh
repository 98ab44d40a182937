#!/bin/sh
# The parts of docs/man/filch-sim.1 that `filch sim` knows: its scenarios and its settings.
# usage: scripts/man-sim.sh FILCH            prints the page with these parts as the command has them
#        scripts/man-sim.sh --update FILCH   writes it
set -eu
update=
if [ "${1:-}" = --update ]; then update=yes; shift; fi
filch=${1:?path of the command}
page=$(dirname "$0")/../docs/man/filch-sim.1

scenarios()
{
    "$filch" sim --help | awk '
        /^scenarios/ { inside = 1; next }
        inside && NF == 0 { exit }
        inside && $1 != "keys" { name = $1; $1 = ""; sub(/^ */, ""); printf ".TP\n.B %s\n%s.\n", name, $0 }'
}
settings()
{
    "$filch" sim keys | awk '
        /^Times:/ { exit }
        /^    / { word = $1; $1 = ""; sub(/^ */, ""); printf ".br\n\\fB%s\\fR: %s\n", word, $0; next }
        NF { key = $1; standard = $2; $1 = $2 = ""; sub(/^ */, ""); printf ".TP\n.BR %s \" (%s)\"\n%s\n", key, standard, $0 }' |
        sed 's/^\.\.\./\\\&.../'
}
whole()
{
    sed -n '1,/^\.\\" scenarios: begin/p' "$page"
    scenarios
    sed -n '/^\.\\" scenarios: end/,/^\.\\" settings: begin/p' "$page"
    settings
    sed -n '/^\.\\" settings: end/,$p' "$page"
}
if [ "$update" ]; then
    whole >"$page.new"
    mv "$page.new" "$page"
else
    whole
fi
