# The guide "A new policy in 30 lines" (docs/simulator.md) is right: its blocks, put into a copy of the sources at
# the places that it names, give a policy that the runtime and the simulator run. Nothing is optimised.
set -u
: "${CC:?compiler}" "${SOURCE_DIR:?}"
cd "$SOURCE_DIR" || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "new_policy: $*" >&2; exit 1; }

cp -R --parents include src tests/*.h tests/unit/test_policy_victim.c tests/lint/new_policy.c "$scratch" ||
    fail "no copy of the sources"

# N.block, and N.place: file, region, `before` and what stands in the line that follows.
awk -v out="$scratch" '
    /^## / { inside = /^## A new policy/ }
    inside && /^<!-- .* -->$/ { place = substr($0, 6, length($0) - 9); next }
    inside && /^```c$/ { n++; block = 1; print place > (out "/" n ".place"); place = ""; next }
    /^```/ { block = 0; next }
    block { print > (out "/" n ".block") }' docs/simulator.md

# The first line behind the first one with `region` in it that has `anchor` in it.
put_in() # put_in FILE REGION ANCHOR BLOCK
{
    awk -v region="$2" -v anchor="$3" -v block="$4" '
        index($0, region) { there = 1 }
        there && !done && index($0, anchor) {
            done = 1
            while ((getline line < block) > 0)
                print line
        }
        { print }
        END { exit !done }' "$1" >"$scratch/new" && mv "$scratch/new" "$1"
}

blocks=0
lines=0
for place in "$scratch"/*.place; do
    [ -f "$place" ] || fail "the guide has no blocks"
    block=${place%.place}.block
    IFS='|' read -r file region anchor <"$place"
    file=${file% } region=${region# } region=${region% } anchor=${anchor# before }
    put_in "$scratch/$file" "$region" "$anchor" "$block" || fail "$file: no '$anchor' behind '$region'"
    blocks=$((blocks + 1))
    lines=$((lines + $(wc -l <"$block")))
done
[ "$blocks" -ge 6 ] || fail "only $blocks blocks"
[ "$lines" -le 30 ] || fail "$lines lines, not 30"

cd "$scratch" || exit 1
flags="-std=gnu11 -O0 -DFILCH_UCONTEXT=1 -Wall -Wextra -Werror -Iinclude -Isrc -Itests"
compile='$CC $flags -ffp-contract=off -c "$1" -o "$(echo "$1" | tr / _).o"'
export CC flags
find src tests/unit tests/lint -name '*.c' -print |
    xargs -P 2 -I{} sh -c "$compile" sh {} || fail "does not compile"
# shellcheck disable=SC2086
"$CC" src_*.o tests_unit_*.o -pthread -lm -o victims && "$CC" src_*.o tests_lint_*.o -pthread -lm -o both ||
    fail "does not link"
./victims >victims.log 2>&1 || { tail -n 5 victims.log; fail "the test of the guide fails"; }
grep -q '^ok ahead_begins_with_the_next_worker$' victims.log || fail "the test of the guide did not run"
./both ahead 2 "3 4 0 1" || fail "the new policy does not run in both machines"
./both order 2 "0 1 3 4" || fail "the check sees no other order" # or it could not fail
if (./both order 2 "3 4 0 1") >/dev/null 2>&1; then fail "another policy passes as the new one"; fi
if (./both behind 2 "1 0 4 3") >/dev/null 2>&1; then fail "a word that is in no table is known"; fi
echo "$blocks blocks, $lines lines"
