#!/usr/bin/env bash
# Line coverage of src/base, src/os and src/core by the quick tests: a table, what is not covered and
# why (tests/coverage.txt), build-coverage/index.html, and the total. Status 1 below 95 %.
# usage: scripts/coverage.sh [BUILD-DIRECTORY]
set -eu
cd "$(dirname "$0")/.."
build=${1:-build-coverage}
jobs=${JOBS:-$(nproc)}
# Models are left out: with counters they take many minutes, and run hardly a line that no other test runs.
labels='^(unit|stress|cli|fuzz|fault|misuse|example)$'
mkdir -p "$build"
build=$(cd "$build" && pwd)

gcc -O1 -c tests/coverage_exit.c -o "$build/coverage_exit.o"
# Threads share the counters: atomic. Children count, too: see tests/coverage_exit.c; and fork() stays
# fork(), or else gcov forgets in the child what the handlers of pthread_atfork did there.
# -O0: lines that an optimiser runs together look as if some of them had not been run.
flags='-O0 -g -fno-builtin-fork -DFILCH_DEBUG=1 -DFILCH_COVERAGE=1 --coverage -fprofile-update=atomic'
CC=gcc cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Debug -DFILCH_BENCH=OFF \
    -DCMAKE_C_FLAGS_DEBUG="$flags" -DFILCH_COVERAGE=ON -DFILCH_TEST_TIMEOUT=600 \
    -DCMAKE_EXE_LINKER_FLAGS="--coverage -Wl,--wrap=_exit,--wrap=abort,--wrap=raise $build/coverage_exit.o" \
    -DCMAKE_SHARED_LINKER_FLAGS=--coverage >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log"; exit 1; }
cmake --build "$build" --parallel "$jobs" >"$build/build.log" 2>&1 || { tail -n 40 "$build/build.log"; exit 1; }

find "$build" -name '*.gcda' -delete
tests=0
# Not what clang++ links: it does not know gcc's counters.
ctest --test-dir "$build" -L "$labels" -LE long -E clangxx --parallel "$jobs" --output-on-failure --no-tests=error \
    >"$build/tests.log" 2>&1 || tests=$?
if [ "$tests" -ne 0 ]; then tail -n 40 "$build/tests.log"; fi

find src/base src/os src/core -name '*.[chS]' | LC_ALL=C sort >"$build/sources.txt"
find "$build" -name '*.gcda' -not -path '*/filch_shared.dir/*' -print0 | LC_ALL=C sort -z |
    xargs -0 -n 1 gcov --stdout --branch-probabilities --source-prefix "$PWD" >"$build/gcov.txt" 2>"$build/gcov.log"
status=0
awk -v page="$build/index.html" -v gate=95 -f scripts/coverage.awk tests/coverage.txt "$build/sources.txt" \
    "$build/gcov.txt" || status=$?
echo "page: $build/index.html"
[ "$tests" -eq 0 ] || { echo "coverage: tests failed, see $build/tests.log"; exit 1; }
exit "$status"
