# Compiles one test of filch.hpp with one compiler, warnings as errors, links the static library, runs it.
# CXX, SOURCE (the test), LIBRARY; FLAGS and LAUNCHER of a sanitizer, or empty.
set -eu
command -v "$CXX" >/dev/null || { echo "no $CXX here"; exit 77; }
printf '#include <vector>\n' | "$CXX" -x c++ -std=c++17 -fsyntax-only - 2>/dev/null ||
    { echo "$CXX has no C++17 library"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# shellcheck disable=SC2086
"$CXX" -std=c++17 -O1 -Wall -Wextra -Wshadow -Wconversion -Wno-psabi -Werror ${FLAGS:-} \
    -I"$SOURCE_DIR/include" -I"$SOURCE_DIR/tests" "$SOURCE" "$LIBRARY" ${LINK_FLAGS:-} -pthread -lm -o "$tmp/test"
# shellcheck disable=SC2086
${LAUNCHER:-} "$tmp/test"
