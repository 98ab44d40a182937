# `filch soak` accounts for every task, says what it did, and what to do if asked for nonsense.
. "$(dirname "$0")/common.bash"

refused() {
    local says=$1
    shift
    run soak "$@"
    status_is 2
    out_is_empty
    err_is_one_line
    err_has "$says"
    err_has "filch soak --help"
}

run soak --help
status_is 0
err_is_empty
out_has "usage: filch soak"
whole=$out
run help soak
[ "$out" = "$whole" ] || fail "help soak differs from soak --help"

# Without its program it says how to get it.
cp "$FILCH" "$scratch/filch"
if [ ! -x "$(dirname "$FILCH")/filch-soak" ]; then exit 77; fi
timeout 60 "$scratch/filch" soak >"$scratch/out" 2>"$scratch/err"
status=$? out=$(cat "$scratch/out") err=$(cat "$scratch/err")
status_is 1
out_is_empty
err_is_one_line
err_has "build it with 'make'"

refused "'--frobnicate' is not an option" --frobnicate
refused "'now' is not expected" now
refused "'many' is not a number of seconds" --seconds many
refused "'0' is not a number of seconds" --seconds 0
refused "'-1' is not a seed" --seed -1
refused "'--seed' needs a value" --seed
refused "'frobnicate' is not a phase" --phase fib,frobnicate

run soak --list
status_is 0
for name in fib trees bounded forks plain jobs detached waits tasks events nested pins churn shutdown guests \
    deques faults children; do
    out_has "$name "
done

run soak --seconds 2 --seed 7
status_is 0
err_is_empty
out_has " tasks, 0 lost, 0 double, 0 stalls ("
out_has "seed 7)"
for word in pauses "spurious wake-ups" "injected failures" forks "affinity changes"; do
    out_has "$word"
done

# Only what was asked for, and some of it.
run soak --seconds 1 --phase deques,fib --json
status_is 0
err_is_empty
lines_are_objects
lines_have phase tasks
ran() { printf '%s\n' "$out" | sed -n "s/.*\"phase\":\"$1\".*\"tasks\":\([0-9]*\).*/\1/p"; }
[ "$(ran fib)" -gt 0 ] || fail "no tasks in fib"
[ "$(ran trees)" -eq 0 ] || fail "a phase ran that was not asked for"
[ "$(ran all)" -eq $(($(ran fib) + $(ran deques))) ] || fail "the sum is not the sum"
printf '%s\n' "$out" | tail -n 1 | grep '"lost":0,"double":0,"stalls":0,' | grep -q '"passed":true' ||
    fail "no verdict"

# An interrupt ends it early, with the table.
"$FILCH" soak --seconds 1000 --seed 3 >"$scratch/out" 2>"$scratch/err" &
child=$!
until [ "$(ls "/proc/$child/task" 2>/dev/null | wc -l)" -gt 4 ]; do # its threads are there: so is the handler
    kill -0 $child 2>/dev/null || fail "it ended by itself"
    sleep 0.1
done
kill -INT $child
wait $child
status=$? out=$(cat "$scratch/out") err=$(cat "$scratch/err")
status_is 0
out_has "0 lost, 0 double, 0 stalls ("
