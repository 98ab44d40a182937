# FILCH_DUMP=1: SIGQUIT makes any program say what its tasks wait for, and it goes on.
. "$(dirname "$0")/common.bash"

cat >"$scratch/parked.c" <<'PROGRAM'
#include <filch/task.h>
#include <unistd.h>

static filch_event end;
static void parks(void *arg)
{
    (void)arg;
    filch_task_rename("parked");
    filch_event_wait(&end);
}

int main(void)
{
    char byte;
    if (filch_go(parks, NULL) != 0)
        return 1;
    if (write(1, "there\n", 6) != 6 || read(0, &byte, 1) < 0)
        return 1;
    filch_event_set(&end);
    return filch_pool_wait(filch_pool_default(), FILCH_FOREVER);
}
PROGRAM
"${CC:-cc}" -O2 -I"$SOURCE_DIR/include" "$scratch/parked.c" "$BUILD_DIR/libfilch.a" -lpthread ${LINK_FLAGS-} \
    -o "$scratch/parked" || fail "does not compile"

start() { # start NAME=VALUE
    mkfifo "$scratch/in"
    env "$1" timeout -s KILL 100 "$scratch/parked" <"$scratch/in" >"$scratch/out" 2>"$scratch/err" &
    job=$!
    exec 3>"$scratch/in"
    rm "$scratch/in"
    until grep -q there "$scratch/out"; do sleep 0.05; done
    program=$(pgrep -P "$job" || echo "$job")
}

start FILCH_DUMP=1
kill -QUIT "$program"
for _ in $(seq 200); do
    grep -q '"parked" waiting in filch_event_wait for event ' "$scratch/err" && break
    sleep 0.05
    kill -QUIT "$program" # it may not have waited yet
done
exec 3>&-
wait "$job"
status=$? out=$(cat "$scratch/out") err=$(cat "$scratch/err")
status_is 0
err_has 'filch dump: pool "default"'
err_has '"parked" waiting in filch_event_wait for event '

start FILCH_DUMP=0
kill -QUIT "$program"
wait "$job"
status=$? err=$(cat "$scratch/err")
exec 3>&-
[ "$status" -ne 0 ] || fail "SIGQUIT does not end a program that did not ask for dumps"

# Before there is a pool it says so, and the program goes on.
cat >"$scratch/early.c" <<'PROGRAM'
#include <filch.h>
#include <signal.h>
int main(void)
{
    raise(SIGQUIT);
    return filch_pool_wait(filch_pool_default(), FILCH_FOREVER);
}
PROGRAM
"${CC:-cc}" -O2 -I"$SOURCE_DIR/include" "$scratch/early.c" "$BUILD_DIR/libfilch.a" -lpthread ${LINK_FLAGS-} \
    -o "$scratch/early" || fail "does not compile"
FILCH_DUMP=1 "$scratch/early" 2>"$scratch/err"
status=$? err=$(cat "$scratch/err")
status_is 0
err_has 'filch dump: no pool was made'
(ulimit -c 0; FILCH_DUMP=on exec "$scratch/early") 2>/dev/null
[ $? -eq 131 ] || fail "SIGQUIT does not end a program whose FILCH_DUMP means nothing"
