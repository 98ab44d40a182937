# Every public header compiles alone, twice in a row, as C11 and as C++17, with gcc and clang, with warnings as errors;
# filch.h in other dialects too. Those of C++ (.hpp) as C++ only.
set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0
compilers=0

try() # try LABEL COMPILER ARGS...
{
    local label=$1
    shift
    if ! "$@" -Wall -Wextra -Werror -I"$SOURCE_DIR/include" -fsyntax-only 2>"$tmp/err"; then
        echo "$label does not compile:"
        head -n 20 "$tmp/err"
        failures=$((failures + 1))
    fi
}

for header in filch.h $(cd "$SOURCE_DIR/include" && ls filch/*.h); do
    printf '#include <%s>\n#include <%s>\nextern int filch_test_dummy;\n' "$header" "$header" >"$tmp/alone.c"
    cp "$tmp/alone.c" "$tmp/alone.cpp"
    c=c11 cpp=c++17
    if [ "$header" = filch.h ]; then c='c11 gnu11 c17' cpp='c++17 gnu++17'; fi
    for std in $c; do
        for cc in gcc clang; do
            command -v "$cc" >/dev/null || continue
            compilers=$((compilers + 1))
            try "$header with $cc -std=$std" "$cc" -std="$std" "$tmp/alone.c"
        done
    done
    for std in $cpp; do
        for cxx in g++ clang++; do
            command -v "$cxx" >/dev/null || continue
            try "$header with $cxx -std=$std" "$cxx" -std="$std" "$tmp/alone.cpp"
        done
    done
done

for header in $(cd "$SOURCE_DIR/include" && ls filch.hpp filch/cpp/*.hpp); do
    printf '#include <%s>\n#include <%s>\nextern int filch_test_dummy;\n' "$header" "$header" >"$tmp/alone.cpp"
    stds=c++17
    if [ "$header" = filch.hpp ]; then stds="c++17 c++20"; fi
    for std in $stds; do
        for cxx in g++ clang++; do
            command -v "$cxx" >/dev/null || continue
            try "$header with $cxx -std=$std" "$cxx" -std="$std" -Wshadow -Wconversion "$tmp/alone.cpp"
        done
    done
done
[ "$compilers" -gt 0 ] || { echo "no compiler found"; exit 1; }
exit $((failures > 0))
