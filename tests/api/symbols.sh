# The shared library exports filch_* and the four functions of os_spawn.c under its version node, nothing else, and
# exactly the symbols of symbols.txt: a new one is added there on purpose (make symbols), a lost one breaks users.
set -eu
list=$SOURCE_DIR/tests/api/symbols.txt
now=$(mktemp)
trap 'rm -f "$now"' EXIT
sh "$SOURCE_DIR/scripts/symbols.sh" "$LIBRARY" >"$now"

if strange=$(grep -vE '^(filch_[a-z0-9_]+|posix_spawnp?|system|popen) FILCH_[0-9]+\.[0-9]+$' "$now"); then
    echo "exported, but not filch_* (or of os_spawn.c) under a version node:"
    echo "$strange"
    exit 1
fi
nodes=$(nm -D --defined-only "$LIBRARY" | awk '$2 == "A" { print $3 }')
[ "${nodes%%@*}" = FILCH_0.1 ] || { echo "version nodes: '$nodes', expected FILCH_0.1"; exit 1; }
[ -s "$now" ] || { echo "nothing is exported"; exit 1; }
[ -f "$list" ] || { echo "no $list: run make symbols"; exit 1; }
diff -u "$list" "$now" || { echo "exports differ from tests/api/symbols.txt (make symbols)"; exit 1; }
