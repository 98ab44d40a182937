# tools/gdb/filch-gdb.py: the backtrace of a parked task, in a live process and in a core file.
. "$(dirname "$0")/common.bash"
command -v gdb >/dev/null || { echo "no gdb"; exit 77; }
case $(uname -m) in x86_64 | aarch64) ;; *) echo "no layout for this processor"; exit 77 ;; esac

cat >"$scratch/parked.c" <<'PROGRAM'
#include <filch/dump.h>
#include <filch/task.h>
#include <stdlib.h>
#include <unistd.h>

static filch_event never, there;
static int left;

__attribute__((noinline)) void a_quiet_place(int depth)
{
    if (depth > 0)
        a_quiet_place(depth - 1);
    else
        filch_event_wait(&never);
    left++;
}

static void parks(void *arg)
{
    (void)arg;
    filch_task_rename("parked");
    filch_event_set(&there);
    a_quiet_place(2);
}

int main(void)
{
    if (filch_go(parks, NULL) != 0)
        return 1;
    filch_event_wait(&there);
    usleep(200000); /* it has left its stack by then; if not, it runs, and the test says so */
    abort();
}
PROGRAM
"${CC:-cc}" -g -O2 -I"$SOURCE_DIR/include" "$scratch/parked.c" "$BUILD_DIR/libfilch.a" -lpthread ${LINK_FLAGS-} \
    -o "$scratch/parked" || fail "does not compile"

gdb_run() {
    timeout 100 gdb -q -nx -batch -ex "set debuginfod enabled off" -ex "set confirm off" \
        -ex "source $SOURCE_DIR/tools/gdb/filch-gdb.py" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    out=$(cat "$scratch/out")
    err=$(cat "$scratch/err")
}

shows_the_task() {
    out_has '"parked" waiting in filch_event_wait for'
    out_has '1 task'
    [ "$(printf '%s\n' "$out" | grep -c '^#.* a_quiet_place ')" -eq 3 ] || fail "a_quiet_place is not there 3 times"
    out_has 'os_context_start'
    out_has 'main () at' # the thread's own backtrace is as before
}

# gdb may not be allowed to trace here (seccomp, a sandbox).
gdb_run -ex run "$scratch/parked"
case $out$err in *SIGABRT*) ;; *) echo "gdb cannot run a program here: $err"; exit 77 ;; esac

gdb_run -ex run -ex "filch tasks" -ex "filch bt all" -ex "bt" -ex kill "$scratch/parked"
shows_the_task

task=$(printf '%s\n' "$out" | sed -n 's/^task \(0x[0-9a-f]*\) .*/\1/p' | head -n 1)
gdb_run -ex run -ex "filch bt 0x10" -ex kill "$scratch/parked"
err_has "no such task"
gdb_run -ex run -ex "filch bt $task" -ex kill "$scratch/parked" # gdb turns off the randomisation of addresses
[ "$(printf '%s\n' "$out" | grep -c '^#.* a_quiet_place ')" -eq 3 ] || err_has "no such task"

# A core file as the kernel writes it, if it does here.
[ "$(cat /proc/sys/kernel/core_pattern)" = core ] || exit 0
(cd "$scratch" && ulimit -c unlimited 2>/dev/null && ./parked) >/dev/null 2>&1
core=$(ls "$scratch"/core* 2>/dev/null | head -n 1)
[ -n "$core" ] || exit 0
gdb_run -ex "filch tasks" -ex "filch bt all" -ex "bt" "$scratch/parked" "$core"
shows_the_task
exit 0
