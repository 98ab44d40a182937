# The code in README.md and docs/ is what it seems: a block below <!-- FILE --> stands in that file, line by
# line (so does all C++); the others are whole programs, which compile without a warning.
set -u
: "${CC:?compiler}" "${SOURCE_DIR:?}"
cd "$SOURCE_DIR" || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# N.c for the N-th block, N.from with the file that it comes from (empty: a program).
cut_blocks() {
    awk -v out="$scratch" '
        /^<!-- .* -->$/ { from = $2; next }
        /^```c(pp)?$/ { n++; inside = 1; printf "%s", from > (out "/" n ".from"); close(out "/" n ".from"); next }
        /^```/ { inside = 0; from = ""; next }
        inside { print > (out "/" n ".c") }' "$1"
}

# Is the first file a run of lines of the second?
stands_in() {
    awk 'NR == FNR { want[++n] = $0; next }
         { line[FNR] = $0 }
         END {
             for (i = 1; i + n - 1 <= FNR; i++) {
                 for (k = 1; k <= n && line[i + k - 1] == want[k]; k++) continue
                 if (k > n) exit 0
             }
             exit 1
         }' "$1" "$2"
}

checked=0
for text in README.md docs/tasks.md docs/parallel.md docs/cpp.md; do
    rm -f "$scratch"/*
    cut_blocks "$text"
    for block in "$scratch"/*.c; do
        from=$(cat "${block%.c}.from")
        if [ -n "$from" ]; then
            stands_in "$block" "$from" || { echo "$text: not in $from:"; cat "$block"; exit 1; }
        else
            "$CC" -std=gnu11 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$block" ||
                { echo "$text: does not compile:"; cat "$block"; exit 1; }
        fi
        checked=$((checked + 1))
    done
done
[ "$checked" -ge 16 ] || { echo "only $checked blocks found"; exit 1; }
