#!/usr/bin/env bash
# The gate behind `make check`: stages one after the other, a line for each with its seconds, and
# as last line `N passed, M failed` over the tests of all stages. A stage that fails does not keep
# the later ones from running; the exit status is 0 only if all of them passed.
# usage: scripts/check.sh [STAGE...]    (without any: all stages, as `make check`)
#        scripts/check.sh all           (the same with every test under every sanitizer: `make check-all`)
set -u
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
known='lint gcc clang ucontext asan tsan clang-asan clang-tsan'
stages=${*:-$known}
thorough=
ahead= # set: only build
if [ "$stages" = all ]; then stages=$known thorough=yes; fi
passed=0
failed=0
started=$SECONDS

configure_and_build() # [targets="T..."] configure_and_build DIR CC CMAKE_ARGS...
{
    local dir=$1 cc=$2 fresh= generator=
    shift 2
    # A directory that was configured for another compiler keeps it unless started afresh.
    if [ -f "$dir/CMakeCache.txt" ] && ! grep -q "^CMAKE_C_COMPILER:.*/$cc\$" "$dir/CMakeCache.txt"; then
        fresh=--fresh
    fi
    # A directory that is there keeps its generator; Ninja starts fewer processes.
    if [ ! -f "$dir/CMakeCache.txt" ] && command -v ninja >/dev/null; then generator='-G Ninja'; fi
    # shellcheck disable=SC2086
    CC=$cc cmake $fresh $generator -S . -B "$dir" -DCMAKE_BUILD_TYPE=Release -DFILCH_WERROR=ON -DFILCH_SANITIZE= \
        -DFILCH_UCONTEXT=OFF -DFILCH_PEERS=OFF "$@" &&
        cmake --build "$dir" --parallel "$jobs" ${targets:+--target $targets}
}

tests() # tests DIR LABELS-REGEX [NAMES-TO-LEAVE-OUT-REGEX [NAMES-REGEX]]
{
    if [ "$ahead" ]; then return 0; fi
    ctest --test-dir "$1" -L "$2" -LE long -E "${3:-^$}" -R "${4:-.*}" --parallel "$jobs" --output-on-failure --no-tests=error
}

# Labels are rooms of tests/. What a second compiler would only repeat is left to `all`.
quick='^(unit|api|stress|sim|cli|example|lint|fuzz|fault|model|mutants)$'
most='^(unit|stress|sim|fuzz|fault)$'
threads='^(unit|stress)$' # parsers have none; what fails is the same for each sanitizer
few='^unit$'
stage_lint() { scripts/lint && DRY=1 MUTANTS_DIR=build/mutants scripts/mutants.sh; }
stage_gcc()
{
    # Templates that g++ has compiled by then; refused memory, which is worth more where leaks are seen (asan).
    local without='^(cpp_(loops|reduce|sort)_clangxx|fault_memory)$'
    if [ "$thorough" ]; then without=; fi
    configure_and_build build gcc && tests build "$quick" "$without"
}
by_both='cpp_.*|headers_compile_alone' # the stage before has run these with both compilers
# And these take long: some do not depend on the compiler, the others run with it under its sanitizers.
long_same='deep|idle|pool|pool_config|sort|sort_plain|sort_select|task|task_edges'
stage_clang()
{
    local without=$by_both faults=ON # the library once more, behind macros
    if [ ! "$thorough" ]; then without="$without|$long_same" faults=OFF; fi
    configure_and_build build-clang clang -DFILCH_BENCH=OFF -DFILCH_MODELS=OFF -DFILCH_FAULTS=$faults -DCMAKE_C_FLAGS_RELEASE=-O2 &&
        tests build-clang '^(unit|api|same)$' "^($without)\$"
}
# What switches stacks; the rest is the same code as in the stage before.
switching='context expose fork_limits forkjoin overflow pool scope strangers sync_held task task_edges waiters'
stage_ucontext()
{
    local names targets
    names=${switching// /|}
    targets=$(printf 'unit_test_%s ' $switching)
    if [ "$thorough" ]; then names=.* targets=filch_tests_unit; fi
    configure_and_build build-ucontext gcc -DFILCH_UCONTEXT=ON -DFILCH_BENCH=OFF \
        -DCMAKE_C_FLAGS_RELEASE=-O1 && tests build-ucontext '^unit$' '' "^($names)\$"
}
# C++ takes long to compile, deep recursion is much stack, sorts of all types are one text; `by_clang` take long, and run
# under the other compiler's sanitizers.
by_clang='idle|pool_config|task|task_edges'
stage_asan() { sanitized build-asan gcc address "$most" "^(deep|fault_sleep|sort_plain|cpp_.*|$by_clang)\$"; }
# Parallel algorithms are much of the user's own code for each fork; loops, searches and pipelines have all ways of forking
# and of waiting that they have. A mistake that is reported ends the process.
stage_tsan()
{
    sanitized build-tsan gcc thread "$threads" "^(arrays|deep|graph|misuse.*|plain|reduce|scan|sort.*|cpp_.*|$by_clang)\$"
}
# A second compiler's sanitizers: what its own code could get wrong, switches, atomics and waits; the rest is
# left to `all`.
second='async blocking cancel chan context expose forkjoin future idle io io_wait local pool pool_config scope seat select
standin strangers sync sync_held task task_edges timer waiters'
stage_clang-asan() { second build-clang-asan address; }
stage_clang-tsan() { second build-clang-tsan thread; }
lines='-DCMAKE_C_FLAGS_DEBUG=-O1 -g1 -DFILCH_DEBUG=1' # reports need no more, and it compiles a quarter faster
second() # second DIR SANITIZER
{
    local names targets name
    names=$(echo $second | tr ' ' '|')
    if [ "$thorough" ]; then
        sanitized "$1" clang "$2" "$few"
        return
    fi
    for name in $second; do
        if [ -f "tests/unit/test_$name.c" ]; then targets="${targets:-} unit_test_$name"; fi
    done
    configure_and_build "$1" clang -DCMAKE_BUILD_TYPE=Debug "$lines" -DFILCH_SANITIZE="$2" &&
        tests "$1" '^unit$' '' "^($names)\$"
}
sanitized() # sanitized DIR CC SANITIZER LABELS-REGEX [NAMES-TO-LEAVE-OUT-REGEX]
{
    local labels=$4 without=${5:-} targets
    if [ "$thorough" ]; then labels=$most without=; fi
    targets=$(tr -cs 'a-z' '\n' <<<"$labels" | sed -n 's/^./filch_tests_&/p')
    configure_and_build "$1" "$2" -DCMAKE_BUILD_TYPE=Debug "$lines" -DFILCH_SANITIZE="$3" &&
        tests "$1" "$labels" "$without"
}

title()
{
    case $1 in
    lint) echo "lint" ;;
    gcc) echo "gcc -O3, all tests, models, a sample of the mutants" ;;
    clang) echo "clang -O2, unit and api tests, the simulator gives the same bytes" ;;
    ucontext) echo "gcc -O1, the portable context switch, what switches" ;;
    asan) echo "gcc, address, undefined and leak sanitizers" ;;
    tsan) echo "gcc, thread sanitizer" ;;
    clang-asan) echo "clang, address, undefined and leak sanitizers, part of the unit tests" ;;
    clang-tsan) echo "clang, thread sanitizer, part of the unit tests" ;;
    esac
}

# Adds up what ctest said; a stage that broke before its tests counts as one failure.
count_tests() # count_tests LOG STATUS
{
    local total bad
    total=$(sed -n 's/^.*tests failed out of \([0-9]*\)$/\1/p' "$1" | tail -n 1)
    bad=$(sed -n 's/^.*, \([0-9]*\) tests failed out of .*$/\1/p' "$1" | tail -n 1)
    if [ -z "$total" ]; then total=0 bad=0; fi
    if [ "$2" -ne 0 ] && [ "$bad" -eq 0 ]; then failed=$((failed + 1)); fi
    passed=$((passed + total - bad))
    failed=$((failed + bad))
    stage_tests=$total
}

# What the tests that failed have printed (ctest puts it behind their line), at most 40 lines each.
failures() # failures LOG
{
    awk '/^ *[0-9]+\/[0-9]+ Test +#/ { left = /\*\*\*/ ? 40 : 0 } left-- > 0' "$1"
}

run_stage() # run_stage NAME SINCE
{
    local name=$1 begin=$2 dir log status=0 word=ok
    case $name in lint | gcc) dir=build ;; *) dir=build-$name ;; esac
    mkdir -p "$dir"
    log=$dir/check.log
    if [ "$name" = lint ]; then log=$dir/check-lint.log; fi
    "stage_$name" >"$log" 2>&1 || status=$?
    count_tests "$log" "$status"
    if [ "$status" -ne 0 ]; then word=FAILED; fi
    printf '%-10s %-6s %4d tests %4d s  %s\n' "$name" "$word" "$stage_tests" $((SECONDS - begin)) "$(title "$name")"
    if [ "$status" -ne 0 ]; then
        { failures "$log"; tail -n 20 "$log"; } | sed 's/^/    /'
        echo "    (all of it: $log)"
    fi
}

# Tests wait and sleep at times: meanwhile the next stage is built. What goes wrong there is said in its turn.
build_ahead() # build_ahead STAGE
{
    renice -n 19 -p "$BASHPID"
    ahead=yes
    "stage_$1"
}

for stage in $stages; do
    if ! declare -F "stage_$stage" >/dev/null; then
        echo "check.sh: no stage $stage ($known)" >&2
        exit 2
    fi
done
# shellcheck disable=SC2086
set -- $stages
trap 'trap - INT TERM; kill 0' INT TERM # what runs in the background would not hear of it
while [ $# -gt 0 ]; do
    since=$SECONDS
    wait # for what was built ahead
    if [ $# -gt 1 ] && [ "$2" != lint ]; then build_ahead "$2" >/dev/null 2>&1 & fi
    run_stage "$1" "$since"
    shift
done
echo "all stages: $((SECONDS - started)) s"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
