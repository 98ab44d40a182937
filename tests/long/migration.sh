# Tasks that move between threads, built as users build: position-independent, with link-time optimisation
# over library and program, by each compiler that is there.
set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0
built=0
sources=$(ls "$SOURCE_DIR"/src/{base,os,core,fiber,obs}/*.c 2>/dev/null | grep -v context_ucontext)
assembly=$SOURCE_DIR/src/os/context_$(uname -m).S

try() # try COMPILER FLAGS...
{
    # shellcheck disable=SC2086
    if ! "$@" -std=gnu11 -I"$SOURCE_DIR/include" -I"$SOURCE_DIR/src" -I"$SOURCE_DIR/tests" \
        "$SOURCE_DIR/tests/long/migration.c" $sources "$assembly" -pthread -o "$tmp/migration" 2>"$tmp/err"; then
        echo "$*: does not build"
        head -n 20 "$tmp/err"
        failures=$((failures + 1))
    elif ! "$tmp/migration" >"$tmp/out" 2>&1; then
        echo "$*: fails"
        cat "$tmp/out"
        failures=$((failures + 1))
    else
        echo "$*: $(head -n 1 "$tmp/out")"
    fi
    built=$((built + 1))
}

if command -v gcc >/dev/null; then
    try gcc -O2 -fPIC
    try gcc -O2 -flto=auto
    try gcc -O3 -fPIC -flto=auto
fi
if command -v clang >/dev/null; then
    try clang -O2 -fPIC
    # Where the linker has no plugin for it, that is said and is no failure.
    echo 'int main(void) { return 0; }' >"$tmp/probe.c"
    for linker in '' -fuse-ld=lld; do
        # shellcheck disable=SC2086
        if clang -flto $linker "$tmp/probe.c" -o "$tmp/probe" 2>/dev/null; then
            try clang -O2 -flto $linker
            try clang -O3 -fPIC -flto $linker
            break
        fi
    done
    [ "$built" -gt 4 ] || echo "clang: no linker for -flto here; not tried"
fi
[ "$built" -gt 0 ] || { echo "no compiler found"; exit 1; }
exit $((failures > 0))
