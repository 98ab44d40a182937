#!/bin/sh
# What the shared library exports, one `name version` per line.
# usage: scripts/symbols.sh [--update] [LIBRARY]
#   --update  writes tests/api/symbols.txt instead of printing; a symbol that disappears is said
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
list=$root/tests/api/symbols.txt
update=no
if [ "${1:-}" = --update ]; then update=yes; shift; fi
library=${1:-$root/build/libfilch.so}
[ -f "$library" ] || { echo "symbols.sh: no library $library" >&2; exit 1; }

exported()
{
    nm -D --defined-only --with-symbol-versions "$library" \
        | awk '$2 != "A" { sub(/@@?/, " ", $3); print $3 }' | LC_ALL=C sort
}

if [ $update = no ]; then
    exported
    exit
fi
if [ -f "$list" ]; then
    new=$(mktemp)
    exported >"$new"
    LC_ALL=C comm -23 "$list" "$new" | sed 's/^/symbols.sh: no longer exported: /' >&2
    rm -f "$new"
fi
exported >"$list"
echo "symbols.sh: $(wc -l <"$list") symbols in tests/api/symbols.txt"
