#!/usr/bin/env bash
# libFuzzer on every target of tests/fuzz/targets.txt, one after the other.
# usage: scripts/fuzz.sh SECONDS [TARGET...]
# The search starts from tests/fuzz/corpus/TARGET and keeps what it learns in build-fuzz/corpus/TARGET.
# An input that breaks a claim is left in build-fuzz/found; it belongs into the corpus, under a name
# that says what was wrong, with the fix.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
jobs=${JOBS:-$(nproc)}
build=build-fuzz
targets=${*:-$(sed -n 's/^\([a-z][a-z_]*\).*/\1/p' tests/fuzz/targets.txt)}
mkdir -p "$build/found"

CC=clang cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Debug -DFILCH_SANITIZE=address -DFILCH_BENCH=OFF \
    -DFILCH_FUZZ=ON -DCMAKE_C_FLAGS=-fsanitize=fuzzer-no-link >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log"; exit 1; }
# shellcheck disable=SC2086
cmake --build "$build" --parallel "$jobs" --target $(printf 'fuzz_%s ' $targets) >"$build/build.log" 2>&1 ||
    { cat "$build/build.log"; exit 1; }

run_target() # run_target NAME
{
    local corpus=tests/fuzz/corpus/$1 learnt=$build/corpus/$1 dict=tests/fuzz/$1.dict
    mkdir -p "$learnt"
    if [ -f "$dict" ]; then dict=-dict=$dict; else dict=; fi
    # Its own output is dropped (close_fd_mask); reports of the sanitizers are not.
    # shellcheck disable=SC2086
    "$build/tests/fuzz/fuzz_$1" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=20000 \
        -close_fd_mask=3 -print_final_stats=1 -artifact_prefix="$build/found/$1-" $dict "$learnt" "$corpus"
}

bad=0
for name in $targets; do
    log=$build/fuzz-$name.log
    word=ok
    UBSAN_OPTIONS=print_stacktrace=1 run_target "$name" >"$log" 2>&1 || word=FOUND
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    printf '%-12s %-5s %10s inputs, %5s edges, %s s\n' "$name" "$word" "${runs:-?}" "${edges:-?}" "$seconds"
    if [ "$word" != ok ]; then
        bad=$((bad + 1))
        grep -v '^#' "$log" | tail -n 40 | sed 's/^/    /'
        echo "    (all of it: $log)"
    fi
done
[ "$bad" -eq 0 ] || { echo "fuzz: $bad targets found something, see $build/found"; exit 1; }
