# `filch bench sim` measures the simulator, and the same model in Python if it is there.
. "$(dirname "$0")/common.bash"

programs=$(dirname "$FILCH")/bench

line() { printf '%s\n' "$out" | grep "\"case\":\"$1\"" | grep "\"runtime\":\"$2\"" | grep "\"workers\":$3,"; }
figure() { line "$1" "$2" "$3" | sed -n "s/.*\"$4\":\([0-9.e+]*\).*/\1/p"; }

run bench sim --quick --json --timeout 100
lines_are_objects
lines_have suite case runtime mode workers version build
for w in 16 1024; do
    for runtime in filch python; do
        line model $runtime $w >/dev/null || fail "no line for the model of $runtime on $w"
    done
    line events filch $w >/dev/null || fail "no line for events on $w"
done
line exact filch 1024 >/dev/null || fail "no line for the exact engine"
if [ -x "$programs/filch-bench-sim" ]; then
    status_is 0
    err_is_empty
    for w in 16 1024; do
        [ "$(figure model filch $w tasks)" = 21891 ] || fail "not fib(20) on $w workers"
        [ "$(figure events filch $w tasks)" = 20000 ] || fail "not all tasks on $w workers"
    done
    [ "$(figure exact filch 1024 tasks)" = 2692537 ] || fail "not fib(30)"
else
    status_is 1
fi

# The two simulators run the same model: as many tasks, and on the mean as many steals.
if line model python 16 | grep -q '"ns_per_op":'; then
    for w in 16 1024; do
        line model python $w | grep -q '"bar":0.2,' || fail "no bar on $w"
        line model python $w | grep -q '"ratio":' || fail "no ratio on $w"
        [ "$(figure model python $w tasks)" = "$(figure model filch $w tasks)" ] || fail "other tasks in Python"
    done
    awk -v a="$(figure model filch 16 small_steals)" -v b="$(figure model python 16 small_steals)" \
        'BEGIN { d = a > b ? a - b : b - a; exit !(b > 10 && d < 0.05 * b) }' ||
        fail "other steals: $(figure model filch 16 small_steals), $(figure model python 16 small_steals)"
else
    line model python 16 | grep -q '"error":"not built: filch-bench-sim-python"' || fail "python failed"
fi

for program in sim sim-python; do
    [ -x "$programs/filch-bench-$program" ] || continue
    for bad in "nonsense 16 default" "model 1 default" "model 16 nonsense" "model 16 default 1" "model 16"; do
        "$programs/filch-bench-$program" $bad >/dev/null 2>&1
        [ $? -eq 2 ] || fail "$program takes: $bad"
    done
done
exit 0
