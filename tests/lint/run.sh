# The lint finds what it is there to find. Each case starts from a tree that is clean, puts one
# violation into it, and expects that one report, at its file and line, and a failure.
set -u
lint=$SOURCE_DIR/scripts/lint
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0
cases=0

fail()
{
    echo "FAILED: $1"
    sed 's/^/    /' "$tmp/out"
    failures=$((failures + 1))
}

clean_tree()
{
    rm -rf "$tmp/tree"
    mkdir -p "$tmp/tree"/{include/filch,src/base,src/os,src/obs,src/core,tools,bench,examples,tests/unit}
    cd "$tmp/tree" || exit 1
    printf '#ifndef FILCH_H\n#define FILCH_H\n#include <filch/ord.h>\n#endif\n' >include/filch.h
    printf '/* head */\n#ifndef FILCH_ORD_H\n#define FILCH_ORD_H\n#define filch_load_relaxed(p) __atomic_load_n(p, 0)\n#endif\n' \
        >include/filch/ord.h
    printf 'volatile int hook;\n' >src/base/ord_check.h
    printf '#include <filch/ord.h>\n#include <stdio.h>\n' >src/base/list.h
    printf '#include "base/list.h"\n#include <pthread.h>\n' >src/os/os.h
    printf '#include "os.h"\n#include "os/os.h"\nvoid f(void) { __asm__ volatile("pause"); }\n' >src/os/os.c
    printf '#include "base/list.h"\n#include "os/os.h"\n' >src/obs/counters.h
    cat >src/core/pool.c <<'END'
#include "base/list.h"
#include "obs/counters.h"
#include "os/os.h"
#include <filch.h>
#include <string.h>
/* Words in comments are free: volatile, _Atomic, exit(1), __atomic_load_n, filch_load_relaxed(p). */
const char *s = "volatile exit(1) __atomic_ \" /* filch_load_relaxed(";
int f(int *p) { return filch_load_relaxed(p); } /* order: beside */
/* order: a comment of
 * more lines than three
 * may stand above what it
 * explains */
int g(int *p)
{
    return filch_load_relaxed(p);
}
int h(int *p)
{
    return filch_load_relaxed(
        p); /* order: at the end of the statement */
}
void thread_exit(void) { pthread_exit(0); }
END
    printf '#include <filch.h>\n#include "bench/bench.h"\n#include "../bench/bench.h"\nint main(void) { exit(0); }\n' >tools/main.c
    printf '#include <filch.h>\n' >bench/bench.h
    printf '#include <filch.h>\n' >examples/fib.c
    printf '#include "core/pool.h"\n#include "check.h"\n' >tests/unit/test_pool.c
}

# reports NAME FILE LINE MESSAGE: expects exactly this report.
reports()
{
    cases=$((cases + 1))
    if "$lint" "$tmp/tree" >"$tmp/out" 2>&1; then fail "$1: no failure"; return; fi
    grep -qE "^$2:$3: .*$4" "$tmp/out" || fail "$1: not reported as $2:$3: $4"
    [ "$(grep -cE '^[^ ]+:[0-9]+: ' "$tmp/out")" -eq 1 ] || fail "$1: more or fewer reports than one"
}

# seed NAME FILE LINE TEXT MESSAGE: a clean tree with TEXT inserted at FILE:LINE.
seed()
{
    clean_tree
    [ -f "$2" ] || : >"$2"
    { head -n $(($3 - 1)) "$2"; printf '%b\n' "$4"; tail -n +"$3" "$2"; } >"$tmp/new"
    cp "$tmp/new" "$2"
    reports "$1" "$2" "$3" "$5"
}

clean_tree
"$lint" "$tmp/tree" >"$tmp/out" 2>&1 || fail "a clean tree is reported"

seed "base includes os" src/base/list.h 1 '#include "os/os.h"' 'src/base must not include src/os'
seed "base includes a public header" src/base/list.h 1 '#include <filch.h>' 'src/base must not include public'
seed "os includes core" src/os/os.c 1 '#include "core/pool.h"' 'src/os must not include src/core'
seed "os includes obs" src/os/os.c 1 '#include "obs/counters.h"' 'src/os must not include src/obs'
seed "os includes a public header" src/os/os.c 1 '#include <filch.h>' 'src/os must not include public'
seed "obs includes core" src/obs/counters.h 1 '#include "core/pool.h"' 'src/obs must not include src/core'
seed "core includes a tool" src/core/pool.c 1 '#include "tools/main.h"' 'src/core must not include tools'
seed "a way up" src/core/pool.c 1 '#include "../os/os.h"' 'name the room'
seed "a header of nobody" src/core/pool.c 1 '#include "nowhere.h"' 'a header of no room'
seed "a tool includes core" tools/main.c 1 '#include "core/pool.h"' 'tools must not include src/core'
seed "a benchmark includes os" bench/bench.h 1 '#include "os/os.h"' 'bench must not include src/os'
seed "a tool goes up to core" tools/main.c 1 '#include "../src/core/pool.h"' 'tools must not include src/core'
seed "an example includes base" examples/fib.c 1 '#include "base/list.h"' 'examples must not include src/base'
seed "a public header includes core" include/filch.h 3 '#include "core/pool.h"' 'include must not include src/core'

for header in pthread.h sys/mman.h unistd.h linux/futex.h time.h sched.h; do
    seed "core includes <$header>" src/core/pool.c 2 "#include <$header>" 'src/core must not include <'
done

seed "__atomic_ in core" src/core/pool.c 6 'int x = __atomic_load_n(&y, 0);' '__atomic_: only'
seed "__sync_ in os" src/os/os.c 3 'int x = __sync_fetch_and_add(&y, 1);' '__sync_: only'
seed "memory_order_ in a tool" tools/main.c 4 'int x = memory_order_relaxed;' 'memory_order_: only'
seed "_Atomic in a test" tests/unit/test_pool.c 3 'static _Atomic int x;' '_Atomic: only'
seed "volatile in core" src/core/pool.c 6 'static volatile int x;' 'volatile: only'
seed "volatile in os beside asm" src/os/os.c 4 '__asm__ volatile(""); volatile int x;' 'volatile: only'
seed "asm volatile in core" src/core/pool.c 6 'void p(void) { __asm__ volatile("pause"); }' 'volatile: only'
seed "volatile after a comment" src/core/pool.c 6 '/* a */ volatile int x;' 'volatile: only'
seed "stdatomic.h" src/os/os.c 1 '#include <stdatomic.h>' 'atomics come from'

seed "an operation without its reason" src/core/pool.c 6 'int a(int *p) { return filch_load_relaxed(p); }' 'order:'
for operation in store_release xchg_acq_rel add_relaxed sub_acq_rel cas_weak_acq_rel fence_seq_cst; do
    seed "filch_$operation without its reason" src/os/os.h 3 "void c(int *p) { filch_$operation(p); }" 'order:'
done
seed "one in a macro of a public header" include/filch.h 4 '#define F(p) filch_load_relaxed(p)' 'order:'

clean_tree
printf '/* order: above */\nint i;\nint j;\nint k;\nint m(int *p) { return filch_load_relaxed(p); }\n' >src/os/far.c
reports "a reason four lines above" src/os/far.c 5 'order:'
clean_tree
printf '/* order: above */\nint i;\nint j;\nint m(int *p) { return filch_load_relaxed(p); }\n' >src/os/near.c
"$lint" "$tmp/tree" >"$tmp/out" 2>&1 || fail "a reason three lines above is not enough"

seed "trailing whitespace" src/core/pool.c 6 'int x; ' 'trailing whitespace'
seed "trailing whitespace in prose" README.md 1 'text ' 'trailing whitespace'
seed "a tab" src/core/pool.c 6 'int\tx;' 'tab'
seed "a long line" src/core/pool.c 6 "/* $(printf '%0105d' 0) */" 'line of 111 columns'
seed "exit in the library" src/core/pool.c 6 'void stop(void) { exit(1); }' 'never calls exit'
seed "_exit in the library" src/os/os.c 3 'void stop(void) { _exit(1); }' 'never calls exit'

clean_tree
printf 'int x;' >src/core/short.c
reports "no final newline" src/core/short.c 1 'no newline'
clean_tree
printf 'int x;\n' >include/filch/par.h
reports "no guard" include/filch/par.h 1 'include guard FILCH_PAR_H'
clean_tree
printf '#ifndef OTHER_H\n#define OTHER_H\n#endif\n' >include/filch/par.h
reports "a guard of another name" include/filch/par.h 1 'include guard FILCH_PAR_H'

echo "$cases violations seeded, $failures failures"
exit $((failures > 0))
