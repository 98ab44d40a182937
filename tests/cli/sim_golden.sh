# `filch sim` prints what is stored: tests/golden/sim/*.txt, each a line `$ filch sim ...` and the output that follows
# it, byte by byte. UPDATE=1 FILCH=build/filch bash tests/cli/sim_golden.sh rewrites them.
. "$(dirname "$0")/common.bash"
LC_ALL=C
seen=0
cd "$(dirname "$0")/../golden/sim" || fail "no golden outputs"
for file in *.txt; do
    IFS= read -r command <"$file"
    case $command in '$ filch sim '*) ;; *) fail "$file begins with no command" ;; esac
    # shellcheck disable=SC2086 # words
    COLUMNS=100 LANG=C.UTF-8 timeout 110 "$FILCH" ${command#"$ filch "} >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    { printf '%s\n' "$command"; cat "$scratch/out" "$scratch/err"; if [ "$status" -ne 0 ]; then echo "status $status"; fi; } >"$scratch/all"
    if [ "${UPDATE:-}" ]; then cp "$scratch/all" "$file"; fi
    out=$(diff "$file" "$scratch/all") || fail "$file: the output is another one (< stored, > now)"
    seen=$((seen + 1))
done
[ "$seen" -ge 1 ] || fail "no golden output"
