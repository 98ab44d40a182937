# What is installed is enough: a program is built against the installed tree through filch.pc and
# through find_package, shared and static, and gives the right answer. The tree is installed with
# DESTDIR, so nothing of it may depend on where it was meant to be.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
DESTDIR=$tmp/dest cmake --install "$BUILD_DIR" --prefix /opt/filch >"$tmp/log" || { cat "$tmp/log"; exit 1; }
root=$tmp/dest/opt/filch

cp "$SOURCE_DIR"/tests/api/install_fib.c "$tmp/fib.c"
answer() # answer LABEL PROGRAM
{
    said=$(LD_LIBRARY_PATH=$(dirname "$(find "$root" -name libfilch.so.0)") timeout 60 $2)
    [ "$said" = 6765 ] || { echo "$1: fib(20) is said to be '$said'"; exit 1; }
}

PKG_CONFIG_PATH=$(dirname "$(find "$root" -name filch.pc)")
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs filch)
# shellcheck disable=SC2086
"$CC" -O2 "$tmp/fib.c" -o "$tmp/fib_pc" $flags
answer pkg-config "$tmp/fib_pc"
readelf -d "$tmp/fib_pc" | grep -q 'NEEDED.*libfilch\.so\.0' || { echo "fib does not need libfilch.so.0"; exit 1; }
version=$(sed -n 's/^#define FILCH_VERSION "\(.*\)"$/\1/p' "$root/include/filch.h")
[ "$(pkg-config --modversion filch)" = "$version" ] || { echo "filch.pc: not version '$version'"; exit 1; }
# A program carries the name of the layout that was inlined into it: another library must not link.
nm "$tmp/fib_pc" | grep -q ' filch_layout_[0-9]' || { echo "the program does not refer to filch_layout_*"; exit 1; }

# shellcheck disable=SC2046
"$CC" "$tmp/fib.c" -o "$tmp/fib_static" $(pkg-config --cflags filch) "$(find "$root" -name libfilch.a)" -pthread
answer static "$tmp/fib_static"

# A user's shared object holds the other archive, loaded after the program has begun.
cat >"$tmp/host.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int (*run)(void) = NULL;
    if (plugin)
        *(void **)&run = dlsym(plugin, "plugin_main");
    if (!run)
        fprintf(stderr, "%s\n", dlerror());
    return run ? run() : 2;
}
END
# shellcheck disable=SC2046
"$CC" -O2 -fPIC -shared -Wl,-z,defs,-z,nodelete -Dmain=plugin_main "$tmp/fib.c" -o "$tmp/plugin.so" \
    $(pkg-config --cflags filch) "$(find "$root" -name libfilch_pic.a)" -pthread
"$CC" -O2 "$tmp/host.c" -o "$tmp/host" -ldl
answer "shared object" "$tmp/host $tmp/plugin.so"
if nm -D --defined-only "$tmp/plugin.so" | grep -q ' filch_'; then echo "the shared object exports filch_..."; exit 1; fi

# The same lines are C++.
if command -v g++ >/dev/null; then
    # shellcheck disable=SC2086
    g++ -std=c++17 -O2 -x c++ "$tmp/fib.c" -x none -o "$tmp/fib_cxx" $flags
    answer "C++" "$tmp/fib_cxx"
    # shellcheck disable=SC2086
    g++ -std=c++17 -O2 "$SOURCE_DIR/tests/api/install_fib.cpp" -o "$tmp/fib_hpp" $flags
    answer "filch.hpp" "$tmp/fib_hpp"
fi

cat >"$tmp/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(filch 0.1 REQUIRED)
add_executable(fib_shared fib.c)
target_link_libraries(fib_shared PRIVATE filch::filch)
add_executable(fib_archive fib.c)
target_link_libraries(fib_archive PRIVATE filch::filch_static)
END
{ cmake -S "$tmp" -B "$tmp/b" -DCMAKE_PREFIX_PATH="$root" -DCMAKE_C_COMPILER="$CC" && cmake --build "$tmp/b"; } \
    >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
answer "find_package, shared" "$tmp/b/fib_shared"
answer "find_package, static" "$tmp/b/fib_archive"

for file in include/filch.h include/filch.hpp include/filch/forkjoin.h include/filch/ord.h share/doc/filch/LICENSE; do
    [ -f "$root/$file" ] || { echo "not installed: $file"; exit 1; }
done
if [ -x "$BUILD_DIR/filch" ]; then
    [ -x "$root/bin/filch" ] || { echo "not installed: bin/filch"; exit 1; }
fi
# As a whole path, not as the end of another: the sources may be in /filch.
if grep -rlP "(?<![\\w./}-])\\Q$SOURCE_DIR\\E(?![\\w-])" "$root" --include='*.pc' --include='*.cmake' --include='*.h'; then
    echo "the files above name the source directory"
    exit 1
fi
