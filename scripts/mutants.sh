#!/usr/bin/env bash
# The mutation gate: does a test notice when the sources are wrong? Every seeded break of
# tests/mutants/*.txt is put into a copy of the sources, and the killer that it names must fail.
# usage: [SAMPLE=N] [ONLY=REGEX] [JOBS=N] [MUTANTS_DIR=DIR] [DRY=1] scripts/mutants.sh
#   SAMPLE  only N: those marked sample=1, then sample=2, then others from all over the lists
#   ONLY    only those whose "id list file killers" matches
#   DRY     only look whether every break finds its text in the sources (a second or two)
# Prints a line per break and as last line `N killed, M equivalent, 0 alive`; status 0 only if none is
# alive and the lists are right.
#
# A list:
#     [id-of-break] file=src/core/ring.h by=model_ring
#     - text of a line or a part of it, to be found exactly once (or header: nth=K); more - lines: the
#       lines below it
#     + what stands there instead; empty: nothing. More + lines are more lines; more pairs may follow
# Header: by=A,B (the first that fails counts), model=A,B for the model programs (only these models),
# args=A,B, nth=K, sample=1 or 2; `equivalent` instead of by=, and then lines `> ...` that say why nothing can
# notice.
# Killers: model_X (tests/model/X.c), unit_test_X, stress_test_X, sim_test_X, fault_test_X (tests/LABEL/test_X.c).
#
# A break that does not compile is a mistake of the list, not a kill. A test that hangs is a kill
# (the limit is at least five times what it takes unbroken); a model that runs out of time is not:
# models find hangs by themselves.
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD
jobs=${JOBS:-$(nproc)}
dir=$(mkdir -p "${MUTANTS_DIR:-build-mutants}" && cd "${MUTANTS_DIR:-build-mutants}" && pwd)
parts='CMakeLists.txt filch.pc.in LICENSE README.md cmake docs examples include mc scripts src tests tools'
limit_least=60
tries_most=4 # of a test that passes although it should not
failing_model='^FAILED ' # what a model program prints, but for those that were only too slow
began=$SECONDS

quit() { echo "mutants: $*" >&2; exit 2; }
now_us() { echo "${EPOCHREALTIME//[!0-9]/}"; }
tree() { echo "$dir/tree$1"; }   # a copy of the sources
build() { echo "$dir/build$1"; } # its build, and what to restore it from
clean() { echo "$dir/clean$1"; }

source_of() # source_of TARGET
{
    case $1 in
    model_*) echo "tests/model/${1#model_}.c" ;;
    *) echo "tests/${1%%_test_*}/test_${1#*_test_}.c" ;;
    esac
}

program_of() # program_of TARGET, below a build directory
{
    case $1 in
    model_*) echo "model/${1#model_}" ;;
    *) echo "tests/${1%%_test_*}/test_${1#*_test_}" ;;
    esac
}

# ---- what to do ---------------------------------------------------------------------------------------

# Those marked come first in a sample (sample=1, then 2), then others from all over the lists.
choose()
{
    awk -F '|' -v only="${ONLY:-}" -v sample="${SAMPLE:-0}" '
        only != "" && $1 " " $2 " " $3 " " $4 !~ only { next }
        { line[++n] = $0; rank[n] = $7 ? $7 : 3; count[rank[n]]++ }
        END {
            if (sample == 0 || sample > n)
                sample = n
            for (r = 1; r <= 3; r++) {
                room = sample < count[r] ? sample : count[r]
                for (i = 1; i <= n; i++)
                    if (rank[i] == r && int(++seen[r] * room / count[r]) > taken[r] + 0) {
                        taken[r]++
                        take[i] = 1
                    }
                sample -= room
            }
            for (i = 1; i <= n; i++)
                if (take[i])
                    print line[i]
        }'
}

read_lists()
{
    awk -v mode=index -f scripts/mutants.awk tests/mutants/*.txt >"$dir/index" || exit 2
    choose <"$dir/index" >"$dir/chosen"
    mapfile -t breaks <"$dir/chosen"
    [ ${#breaks[@]} -gt 0 ] || quit "no break to try"
    # Distinct runs of killers: target|model|args. One that does not exist kills nothing.
    awk -F '|' '{ n = split($4, by, " "); while (n > 0) print by[n--] "|" $5 "|" $6 }' "$dir/chosen" |
        LC_ALL=C sort -u | while read -r run; do
        if [ -f "$(source_of "${run%%|*}")" ]; then echo "$run"; fi
    done >"$dir/runs"
    mapfile -t runs <"$dir/runs"
    targets=$(printf '%s\n' "${runs[@]}" | cut -d '|' -f 1 | sort -u)
}

# ---- trees ------------------------------------------------------------------------------------------

# shellcheck disable=SC2086
sources() { find $parts -type f -print 2>/dev/null | LC_ALL=C sort; }

# Only what differs is written, so that an earlier build is of use.
sync_tree() # sync_tree K
{
    local to f
    to=$(tree "$1")
    mkdir -p "$to"
    while read -r f; do
        cmp -s "$f" "$to/$f" || cp --parents "$f" "$to"
    done <"$dir/sources"
    (cd "$to" && sources) | LC_ALL=C comm -13 "$dir/sources" - | while read -r f; do rm -f "$to/$f"; done
}

only_libraries() # files of the core whose names the model checker does not have as well, and of the simulator
{
    (cd src/core && printf '%s\n' ./*.c) | while read -r f; do
        if [ ! -f "mc/$f" ]; then echo "${f#./}"; fi
    done
    (cd src/sim && printf '%s\n' *.c)
}

# Twice: the second time the dependencies of the first are known. Programs without any object of the
# core or of the simulator need not wait for these when a header changes.
prepare_tree() # prepare_tree K
{
    local at target
    at=$(build "$1")
    rm -rf "$at"
    if [ -d "$(clean "$1")" ]; then cp -a "$(clean "$1")" "$at"; fi
    sync_tree "$1"
    CC=${CC:-gcc} cmake -S "$(tree "$1")" -B "$at" -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE=Release \
        "-DCMAKE_C_FLAGS_RELEASE=-O1 -DKIT_PATIENCE_S=8" -DFILCH_LTO=OFF -DFILCH_BENCH=OFF || return 1
    # shellcheck disable=SC2086
    make -C "$at" $targets && make -C "$at" $targets || return 1
    for target in $targets; do
        readelf -sW "$at/$(program_of "$target")" | awk '$4 == "FILE" { print $8 }' >"$at/objects"
        if ! only_libraries | grep -qxFf - "$at/objects"; then touch "$at/without_libraries.$target"; fi
    done
    rm -rf "$(clean "$1")"
    cp -a "$at" "$(clean "$1")"
}

prepare()
{
    local k pids=() bad=0
    sources >"$dir/sources"
    for ((k = 0; k < jobs; k++)); do
        prepare_tree "$k" >"$dir/prepare$k.log" 2>&1 &
        pids[k]=$!
    done
    for ((k = 0; k < jobs; k++)); do
        wait "${pids[k]}" || { bad=1; tail -n 20 "$dir/prepare$k.log" >&2; }
    done
    [ $bad -eq 0 ] || quit "the unbroken sources do not build"
    (cd "$(tree 0)" && xargs cksum <"$dir/sources") >"$dir/sums"
}

put_back() # put_back K FILE
{
    cp -p "$dir/saved$1" "$(tree "$1")/$2"
    rm -rf "$(build "$1")"
    cp -a "$(clean "$1")" "$(build "$1")"
}

# ---- killers ----------------------------------------------------------------------------------------

# Says passed, failed, slow (a model) or hang. The first model that fails ends it.
run_program() # run_program K LIMIT LOG TARGET ARGS...
{
    local target=$4 line out pid status word=passed
    exec {out}< <(cd "$(build "$1")" && exec timeout -k 5 "$2" "./$(program_of "$target")" "${@:5}" 2>&1)
    pid=$!
    while IFS= read -r line <&"$out"; do
        printf '%s\n' "$line" >>"$3"
        if [[ $target != model_* || ! $line =~ $failing_model ]]; then continue; fi
        if [[ $line == *'not exhausted'* ]]; then word=slow; continue; fi
        word=failed
        kill "$pid" 2>/dev/null
        break
    done
    exec {out}<&-
    wait "$pid"
    status=$?
    if [ $word = passed ] && { [ $status -eq 124 ] || [ $status -eq 137 ]; }; then
        word=hang
        if [[ $target == model_* ]]; then word=slow; fi
    fi
    if [ $word = passed ] && [ $status -ne 0 ]; then word=failed; fi
    echo $word
}

# Models do the same every time.
run_models() # run_models K RUN LIMIT LOG
{
    local target models args model options word=passed
    IFS='|' read -r target models args <<<"$2"
    for model in ${models:-all}; do
        if [ "$model" = all ]; then options=$args; else options="--model $model $args"; fi
        # shellcheck disable=SC2086
        word=$(run_program "$1" "$3" "$4" "$target" $options)
        if [ "$word" != passed ]; then break; fi
    done
    echo "$word"
}

# A test may have had a bad day: it has to fail twice. And what it looks for may depend on who is faster: it
# is tried so often.
run_test() # run_test K RUN LIMIT LOG TRIES
{
    local target args word failures=0 tries=$5
    IFS='|' read -r target _ args <<<"$2"
    while ((tries-- > 0 || failures == 1)); do
        # shellcheck disable=SC2086
        word=$(run_program "$1" "$3" "$4" "$target" $args)
        if [ "$word" = hang ] || { [ "$word" = failed ] && ((++failures == 2)); }; then break; fi
        word=passed
        if ((tries < 0)); then break; fi
    done
    echo "$word"
}

run_killer() # run_killer K RUN LIMIT LOG TRIES
{
    if [[ $2 == model_* ]]; then run_models "$@"; else run_test "$@"; fi
}

key_of() { echo "${1//[^A-Za-z0-9_]/-}"; }

# An unbroken program that passed once need not again.
run_unbroken() # run_unbroken K RUN
{
    local at sum begin word mark
    at=$dir/unbroken/$(key_of "$2")
    sum=$(cksum <"$(build "$1")/$(program_of "${2%%|*}")")
    if [ -f "$at" ] && [ "$(head -n 1 "$at")" = "$sum" ]; then return; fi
    rm -f "$at" "$at.log"
    begin=$(now_us)
    word=$(run_killer "$1" "$2" 300 "$at.log" 1)
    mark=$(($(now_us) - begin))
    if [ "$word" = passed ]; then
        printf '%s\n%s\n' "$sum" "$mark" >"$at"
    else
        echo "$2: $word without any break ($at.log)"
        tail -n 20 "$at.log" | sed 's/^/    /'
    fi
}

limit_of() # limit_of RUN, in seconds
{
    local us
    us=$(sed -n 2p "$dir/unbroken/$(key_of "$1")")
    echo $((5 * us / 1000000 > limit_least ? 5 * us / 1000000 : limit_least))
}

check_unbroken()
{
    local k i pids=()
    mkdir -p "$dir/unbroken"
    for ((k = 0; k < jobs; k++)); do
        (for ((i = k; i < ${#runs[@]}; i += jobs)); do run_unbroken "$k" "${runs[i]}"; done) \
            >"$dir/unbroken$k.log" &
        pids[k]=$!
    done
    wait "${pids[@]}"
    if [ -n "$(cat "$dir"/unbroken[0-9]*.log)" ]; then
        cat "$dir"/unbroken[0-9]*.log >&2
        quit "killers fail on the unbroken sources: nothing to learn from them"
    fi
}

# ---- a break ----------------------------------------------------------------------------------------

build_target() # build_target K TARGET FILE
{
    local fast=
    if [[ $3 == *.h && -f $(build "$1")/without_libraries.$2 ]]; then fast=/fast; fi
    make -C "$(build "$1")" "$2$fast"
}

put_in() # put_in K ID LIST FILE LOG
{
    local file
    file=$(tree "$1")/$4
    [ -f "$file" ] || { echo "no file $4" >"$5"; return 1; }
    cp -p "$file" "$dir/saved$1"
    awk -v mode=apply -v id="$2" -v list="$3" -f scripts/mutants.awk "$dir/saved$1" >"$file" 2>"$5" ||
        return 1
    if cmp -s "$file" "$dir/saved$1"; then echo "changes nothing" >"$5"; return 1; fi
}

try() # try K ID LIST FILE BY MODEL ARGS EQUIVALENT LOG: sets verdict and killer
{
    local target run word
    killer=-
    if ! put_in "$1" "$2" "$3" "$4" "$9"; then verdict="BROKEN ($(tail -n 1 "$9"))"; return; fi
    if [ -n "$8" ]; then verdict=equivalent; return; fi
    verdict=ALIVE
    for target in $5; do
        run="$target|$6|$7"
        killer=$target
        if [ ! -f "$(source_of "$target")" ]; then verdict="ALIVE (there is no $target)"; continue; fi
        if ! build_target "$1" "$target" "$4" >>"$9" 2>&1; then
            verdict='BROKEN (does not compile)'
            return
        fi
        word=$(run_killer "$1" "$run" "$(limit_of "$run")" "$9" "$tries_most")
        case $word in
        failed) verdict=killed; return ;;
        hang) verdict='killed (hang)'; return ;;
        slow) verdict='ALIVE (out of time)' ;;
        esac
    done
    killer=${5// /,}
}

judge() # judge K NUMBER
{
    local id list file by model args _ equivalent begin us killer verdict
    IFS='|' read -r id list file by model args _ equivalent <<<"${breaks[$2]}"
    begin=$(now_us)
    rm -f "$dir/log/$id"
    try "$1" "$id" "$list" "$file" "$by" "$model" "$args" "$equivalent" "$dir/log/$id"
    if [ -f "$(tree "$1")/$file" ]; then put_back "$1" "$file"; fi
    us=$(($(now_us) - begin))
    printf '%-36s %-26s %-24s %-14s %4d.%d\n' "$id" "$file" "$killer" "$verdict" \
        $((us / 1000000)) $((us % 1000000 / 100000))
    echo "$verdict" >"$dir/verdict/$2"
}

judge_all()
{
    local k i pids=()
    rm -rf "$dir/claimed" "$dir/verdict" "$dir/log"
    mkdir -p "$dir/claimed" "$dir/verdict" "$dir/log"
    for ((k = 0; k < jobs; k++)); do
        (for ((i = 0; i < ${#breaks[@]}; i++)); do
            mkdir "$dir/claimed/$i" 2>/dev/null && judge "$k" "$i"
        done) &
        pids[k]=$!
    done
    wait "${pids[@]}"
}

# The copies hold what they held.
check_restored()
{
    local k f
    for ((k = 0; k < jobs; k++)); do
        (cd "$(tree "$k")" && xargs cksum <"$dir/sources") | cmp -s - "$dir/sums" ||
            quit "$(tree "$k") is not what it was: a break was not taken out"
    done
    xargs cksum <"$dir/sources" 2>&1 | cmp -s - "$dir/sums" ||
        echo "mutants: the sources were changed while this ran; judged is what they were"
}

# Status 1 and a line for each break whose text is no longer there.
look_only()
{
    local id list file _ bad=0
    while IFS='|' read -r id list file _; do
        awk -v mode=apply -v id="$id" -v list="$list" -f scripts/mutants.awk "$file" 2>&1 >"$dir/dry" |
            sed "s|^|$list: [$id] $file: |"
        if [ ! -s "$dir/dry" ] || cmp -s "$dir/dry" "$file"; then
            echo "$list: [$id] does nothing to $file"
            bad=1
        fi
    done <"$dir/chosen"
    return $bad
}

count() { cat "$dir"/verdict/* | grep -c "^$1"; }

read_lists
if [ "${DRY:-}" ]; then look_only; exit; fi
prepare
printf 'mutants: %d breaks; sources built in %d s\n' ${#breaks[@]} $((SECONDS - began))
check_unbroken
printf 'mutants: %d unbroken killers pass (%d s)\n' ${#runs[@]} $((SECONDS - began))
printf '%-36s %-26s %-24s %-14s %s\n' break file killer verdict seconds
judge_all
check_restored
printf 'mutants: %d s; what the killers said: %s\n' $((SECONDS - began)) "${dir#"$root"/}/log"
broken=$(count BROKEN)
alive=$(count ALIVE)
if [ "$broken" -gt 0 ]; then echo "mutants: $broken broken entries in the lists"; fi
echo "$(count killed) killed, $(count equivalent) equivalent, $alive alive"
[ "$alive" -eq 0 ] && [ "$broken" -eq 0 ]
