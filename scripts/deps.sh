#!/bin/sh
# Installs what is missing, through apt-get; silent and offline if nothing is.
# usage: scripts/deps.sh build|check|paths|peers
set -eu
level=${1:-build}
missing=

need() # need PACKAGE WHY COMMAND...: the package is missing unless the command succeeds
{
    package=$1 why=$2
    shift 2
    if "$@" >/dev/null 2>&1; then return; fi
    case " $missing " in *" $package "*) return ;; esac
    missing="$missing $package"
    echo "deps: $package is missing: $why" >&2
}

have() { command -v "$1"; }
compiles() { printf '#include <%s>\nint main(void) { return 0; }\n' "$3" | "$1" -x "$2" - -fsyntax-only; }
rayon_there() { ls /usr/share/cargo/registry/rayon-1.*/Cargo.toml; }
tokio_there() { ls /usr/share/cargo/registry/tokio-1.*/Cargo.toml; }
clang_runtime_there()
{
    for part in asan tsan fuzzer; do
        [ -f "$(clang -print-file-name="libclang_rt.$part-$(uname -m).a")" ] || return 1
    done
}

install_missing()
{
    [ -n "$missing" ] || return 0
    sudo=
    if [ "$(id -u)" -ne 0 ]; then sudo=sudo; fi
    command="$sudo apt-get install -y --no-install-recommends$missing"
    if ! have apt-get >/dev/null || { [ -n "$sudo" ] && ! have sudo >/dev/null; }; then
        echo "deps: cannot install here (no apt-get, or neither root nor sudo). Please install:$missing" >&2
        exit 1
    fi
    log=$(mktemp)
    echo "deps: running: $command" >&2
    export DEBIAN_FRONTEND=noninteractive
    # The package lists may be absent or stale: refresh them only if the first try fails.
    # shellcheck disable=SC2086
    if ! $command >"$log" 2>&1 && ! { $sudo apt-get update >"$log" 2>&1 && $command >>"$log" 2>&1; }; then
        tail -n 15 "$log" >&2
        echo "deps: apt-get failed. Please install:$missing" >&2
        exit 1
    fi
    rm -f "$log"
    missing=
}

need gcc "the compiler" have gcc
need libc6-dev "the C library's headers" compiles gcc c stdio.h
need cmake "the build system (3.25 or later)" have cmake

case $level in
build) ;;
check)
    need binutils "the tests look into the shared library (nm, readelf)" have readelf
    need g++ "the public headers are compiled as C++, too" compiles g++ c++ vector
    need clang "the second compiler of the gate" have clang
    need ninja-build "seven builds, a fifth faster" have ninja
    need pkg-config "the install test uses filch.pc" have pkg-config
    install_missing
    need "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" "sanitizers and libFuzzer for clang" clang_runtime_there
    ;;
paths)
    need binutils "the ruler counts instructions in the disassembly" have objdump
    need valgrind "the ruler counts instructions with callgrind" have valgrind
    ;;
peers)
    need g++ "oneTBB is a C++ library" compiles g++ c++ vector
    need clang "OpenMP by clang" have clang
    need libtbb-dev "the benchmarks compare with oneTBB" compiles g++ c++ tbb/task_group.h
    need libomp-dev "the benchmarks compare with LLVM's OpenMP" compiles clang c omp.h
    need golang-go "the benchmarks compare with Go" have go
    need cargo "builds the programs for Tokio and Rayon" test -x /usr/bin/cargo
    need rustc "builds the programs for Tokio and Rayon" test -x /usr/bin/rustc
    need librust-tokio-dev "the benchmarks compare with Tokio" tokio_there
    need librust-rayon-dev "the benchmarks compare with Rayon" rayon_there
    need python3 "the benchmarks compare the simulator with the same model in Python" have python3
    need wrk "drives the HTTP servers of the benchmarks" have wrk
    ;;
*)
    echo "usage: scripts/deps.sh build|check|paths|peers" >&2
    exit 2
    ;;
esac
install_missing
if [ "$level" = peers ]; then echo "peers: oneTBB, LLVM OpenMP, clang, g++, Go, Tokio, Rayon, Python and wrk are installed"; fi
