#!/usr/bin/env bash
# The ruler: of the paths that users walk most, the instructions executed per operation on one worker, counted by
# callgrind, and the instructions and memory operands of each function, counted in the disassembly; both compared with
# those stored in tests/paths.txt. They repeat exactly.
# usage: scripts/paths.sh [--executed | --code] [--tolerance PERCENT] [--case REGEX] [--against DIR | --update]
#   --executed   only what is executed
#   --code       only what the disassembly shows; needs no valgrind
#   --tolerance  how much a figure may rise; 0.5
#   --case       only these cases
#   --against    compare with the library of another tree: its sources, or a build directory, whose library is
#                taken as it is
#   --update     write the figures into tests/paths.txt
# CC: the compiler, gcc. VALGRIND: the command, valgrind.
# Prints a line per case: now, stored, ratio. Exit status: 0; 1 if a figure rose by more than the tolerance or a
# stored case is gone; 2 if something does not build or run; 77 if there is nothing to compare with: no valgrind,
# or stored with another compiler or machine.
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD
stored=$root/tests/paths.txt
out=$root/build-paths
cc=${CC:-gcc}
valgrind=${VALGRIND:-valgrind}
tolerance=0.5
cases=
against=
update=
measures=

quit() { echo "paths: $*" >&2; exit 2; }
usage() { sed -n '2,/^set -u/{/^set -u/d; s/^# \{0,1\}//; p}' "$root/scripts/paths.sh"; }

while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --update) update=yes ;;
    --executed) measures=executed ;;
    --code) measures='instructions|operands' ;;
    --tolerance | --case | --against)
        [ $# -ge 2 ] || quit "$1 needs a value; --help"
        case $1 in
        --tolerance) tolerance=$2 ;;
        --case) cases=$2 ;;
        --against) against=$2 ;;
        esac
        shift
        ;;
    *) quit "unknown option $1; --help" ;;
    esac
    shift
done
[[ $tolerance =~ ^[0-9]+([.][0-9]+)?$ ]] || quit "--tolerance $tolerance: not a percentage, such as 0.5"
[ -z "$update" ] || [ -z "$against" ] || quit "--update stores figures of this tree: not with --against"
if [ "$against" ]; then against=$(cd "$OLDPWD" && cd "$against" && pwd) || quit "no directory $against"; fi

# The name, the version and the machine that the compiler makes code for.
header()
{
    local name=gcc
    if "$cc" --version | grep -qi clang; then name=clang; fi
    echo "# $name $("$cc" -dumpfullversion 2>/dev/null || "$cc" -dumpversion) $("$cc" -dumpmachine | cut -d- -f1)"
}

# ---- libraries and programs -----------------------------------------------------------------------

# As users get it: release, optimised as a whole by gcc.
build_library() # build_library SOURCES BUILD
{
    mkdir -p "$2"
    { CC=$cc cmake -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=Release -DFILCH_BENCH=OFF -DFILCH_TESTS=OFF &&
        cmake --build "$2" --parallel "${JOBS:-$(nproc)}" --target filch_static; } >"$2/build.log" 2>&1 ||
        { tail -n 20 "$2/build.log" >&2; quit "$1 does not build: $2/build.log"; }
}

cached() { sed -n "s/^$2:[A-Z]*=//p" "$1/CMakeCache.txt"; } # cached BUILD NAME

# The programs are those of this tree: what differs is the library and its headers.
link_programs() # link_programs SOURCES BUILD TO
{
    local program
    mkdir -p "$3"
    for program in calls inside; do
        "$cc" -std=gnu11 -O3 -g -I"$1/include" -I"$1/src" "$root/tests/paths/$program.c" "$root/tests/paths/paths.c" \
            "$2/libfilch.a" -pthread -Wl,--wrap=os_ticks,--wrap=os_ticks_per_us,--wrap=os_random_seed \
            -o "$3/$program" || quit "tests/paths/$program.c does not build with the headers of $1"
    done
    "$cc" -std=gnu11 -O3 -g -I"$1/include" -I"$1/src" -c "$root/tests/paths/code.c" -o "$3/code.o" ||
        quit "tests/paths/code.c does not build with the headers of $1"
    ln -sf "$2/libfilch.a" "$3/libfilch.a"
}

# A tree is built here; of a build directory the library is taken.
prepare_other() # prints where the programs are
{
    local source build
    if [ ! -f "$against/CMakeCache.txt" ]; then
        source=$against
        build=$out/other-$(echo "$against" | cksum | cut -d' ' -f1)
        [ -f "$source/CMakeLists.txt" ] || quit "$against is neither a source tree nor a build directory"
        build_library "$source" "$build"
    else
        source=$(cached "$against" CMAKE_HOME_DIRECTORY)
        build=$against
        [ -f "$build/libfilch.a" ] || quit "$build has no libfilch.a"
        [ "$(cached "$build" CMAKE_BUILD_TYPE)" = Release ] || quit "$build is not a Release build"
    fi
    link_programs "$source" "$build" "$out/other-programs"
}

# ---- figures --------------------------------------------------------------------------------------

# The dumps: what came before, some rounds, twice as many.
executed() { awk '/^(summary|totals):/ { print $2; exit }' "$1"; }

measure() # measure PROGRAM CASE: prints a line of a list
{
    local dump=$out/callgrind.out operations once twice
    rm -f "$dump"*
    operations=$("$valgrind" --tool=callgrind --callgrind-out-file="$dump" "$1" "$2" 2>"$out/valgrind.log") ||
        { tail -n 20 "$out/valgrind.log" >&2; quit "$2 fails under valgrind: $out/valgrind.log"; }
    [ -f "$dump.3" ] || quit "$2 was not counted: does <valgrind/callgrind.h> belong to $valgrind?"
    once=$(executed "$dump.2")
    twice=$(executed "$dump.3")
    awk -v name="$2" -v once="$once" -v twice="$twice" -v n="$operations" \
        'BEGIN { printf "%s executed %.3f\n", name, (twice - once) / n }'
}

measure_executed() # measure_executed PROGRAMS: prints lines of a list
{
    local program name
    for program in calls inside; do
        for name in $("$1/$program"); do
            if [[ $name =~ $cases ]]; then measure "$1/$program" "$name" || exit 2; fi
        done
    done
}

measure_code() # measure_code PROGRAMS: prints lines of a list
{
    objdump -d --no-show-raw-insn "$1/code.o" "$1/libfilch.a" >"$out/code.txt" || quit "objdump failed"
    awk -f scripts/paths-code.awk tests/paths/functions.txt "$out/code.txt" >"$out/code-figures.txt" ||
        quit "no function of tests/paths/functions.txt is in $1/libfilch.a"
    awk -v cases="$cases" 'cases == "" || $1 ~ cases' "$out/code-figures.txt"
}

measure_all() # measure_all PROGRAMS TO: writes a list
{
    header >"$2"
    if [ "$measures" != executed ]; then measure_code "$1" >>"$2"; fi
    if [[ executed =~ $measures ]]; then measure_executed "$1" >>"$2" || exit 2; fi
    grep -qv '^#' "$2" || quit "no case matches $cases"
}

compare() # compare STORED NOW NAME
{
    awk -v mode=compare -v tolerance="$tolerance" -v cases="$cases" -v measures="$measures" -v other="$3" \
        -f scripts/paths.awk "$1" "$2"
}

[[ ! executed =~ $measures ]] || command -v "$valgrind" >/dev/null || { echo "paths: no $valgrind here (scripts/deps.sh paths): skipped"; exit 77; }
command -v objdump >/dev/null || quit "no objdump here: scripts/deps.sh paths"
command -v "$cc" >/dev/null || quit "no compiler $cc"
if [ -z "$update$against" ]; then
    [ -f "$stored" ] || quit "no $stored; --update writes it"
    if [ "$(head -n 1 "$stored")" != "$(header)" ]; then
        header | compare "$stored" - stored
        exit
    fi
fi

build_library "$root" "$out/library"
link_programs "$root" "$out/library" "$out/programs"
measure_all "$out/programs" "$out/now.txt"
if [ "$update" ]; then
    if [ ! -f "$stored" ]; then header >"$stored"; fi
    awk -v mode=merge -v cases="$cases" -v measures="$measures" -f scripts/paths.awk "$stored" "$out/now.txt" >"$out/stored.txt" || exit 2
    cp "$out/stored.txt" "$stored"
    echo "paths: $(grep -vc '^#' "$stored") figures in tests/paths.txt"
elif [ "$against" ]; then
    prepare_other
    measure_all "$out/other-programs" "$out/other.txt"
    compare "$out/other.txt" "$out/now.txt" other
else
    compare "$stored" "$out/now.txt" stored
fi
