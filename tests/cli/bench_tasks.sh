# `filch bench tasks` compares tasks with what other runtimes have, as far as these are there.
. "$(dirname "$0")/common.bash"

programs=$(dirname "$FILCH")/bench

line() { printf '%s\n' "$out" | grep "\"case\":\"$1\"" | grep "\"runtime\":\"$2\"" | grep "\"workers\":$3,"; }

# A case runs on two workers, or on what it is about.
run bench tasks --quick --json --case spawn,spawn_join,skynet,yield,wake,timer_p99,latency_out --timeout 60
lines_are_objects
lines_have suite case runtime mode workers version build
for runtime in filch go tokio; do
    for name in spawn spawn_join skynet wake timer_p99 latency_out; do
        line $name $runtime 2 >/dev/null || fail "no line for $name of $runtime"
        line $name $runtime 1 >/dev/null && fail "$name of $runtime on one worker"
    done
    line yield $runtime 1 >/dev/null || fail "no line for yield of $runtime"
    line yield $runtime 2 >/dev/null && fail "yield of $runtime on two workers"
done
if [ -x "$programs/filch-bench-tasks" ]; then
    status_is 0
    err_is_empty
    for name in spawn spawn_join skynet wake timer_p99 latency_out; do
        line $name filch 2 | grep '"size":1000' | grep -q '"ns_per_op":' || fail "no result for $name"
    done
    line timer_p99 filch 2 | grep '"p50_ns":' | grep -q '"cpu_ns":' || fail "timer_p99 has no further figures"
else
    status_is 1
fi

# Each program knows every case; a result is a line that begins with it. What the library or the
# machine does not have is said.
for program in tasks go tokio; do
    [ -x "$programs/filch-bench-$program" ] || continue
    for name in spawn spawn_join skynet yield pingpong chan_1_1 chan_4_4 mutex wake timer_p50 timer_p99 \
                timer_cpu latency_in latency_out; do
        for workers in 1 2; do
            answer=$(timeout 60 "$programs/filch-bench-$program" $name $workers default 100 2>&1)
            case $answer in
            "ns_per_op="*" size=100 "*"runtime_version="* | *skipped*) ;;
            *) fail "$program $name on $workers: $answer" ;;
            esac
        done
    done
    "$programs/filch-bench-$program" nonsense 2 default >/dev/null 2>&1
    [ $? -eq 2 ] || fail "$program takes a case that is not there"
done
if [ -x "$programs/filch-bench-tasks" ]; then
    "$programs/filch-bench-tasks" skynet 2 default 7 >/dev/null 2>&1
    [ $? -eq 1 ] || fail "skynet takes a size that is no power of 10"
    answer=$("$programs/filch-bench-tasks" timer_cpu 2 async 100 2>&1)
    case $answer in "ns_per_op="*" p50_ns="*) ;; *) fail "no stackless timers: $answer" ;; esac
    "$programs/filch-bench-tasks" spawn 2 async 100 >/dev/null 2>&1
    [ $? -eq 2 ] || fail "spawn takes a mode that it does not have"
fi

# Without wrk there is no result, and the run has not failed.
if [ -x "$programs/filch-bench-epoll" ]; then
    answer=$(PATH=$scratch "$programs/filch-bench-epoll" http_cpu_64 2 default 1 2>&1) && fail "HTTP without wrk"
    case $answer in *"wrk cannot be run"*) ;; *) fail "no word about wrk: $answer" ;; esac
fi

# Ratio and bar stand in the peer's line.
mkdir "$scratch/bench"
pretend() {
    printf '#!/bin/sh\necho "ns_per_op=%s size=1 runtime_version=x y"\n' "$2" >"$scratch/bench/filch-bench-$1"
    chmod +x "$scratch/bench/filch-bench-$1"
}
pretend tasks 3
pretend go 6
pretend epoll 2
export FILCH_BENCH_DIR=$scratch/bench
run bench tasks --json --rounds 2
status_is 0
lines_are_objects
line timer_cpu filch 2 | grep -c '"mode":"async"' | grep -q 1 || fail "no stackless timers"
line spawn go 2 | grep '"ratio":0.5' | grep -q '"bar":0.2' || fail "no ratio or bar for spawn"
line pingpong go 1 | grep -q '"bar":0.28' || fail "not the bar for one worker"
line pingpong go 2 | grep -q '"bar":0.35' || fail "not the bar for two workers"
line http_cpu_64 epoll 2 | grep -q '"ratio":1.5' || fail "no ratio to epoll"
line http_cpu_64 epoll 2 | grep -q '"bar":' && fail "a bar for epoll"
line spawn filch 2 | grep -q '"ratio":' && fail "filch is compared with itself"
line spawn tokio 2 | grep -q '"error":"not built: filch-bench-tokio"' || fail "a missing peer is not told"
cases=$(printf '%s\n' "$out" | sed 's/.*"case":"\([^"]*\)".*/\1/' | uniq | tr '\n' ' ')
[ "$cases" = "spawn spawn_join skynet yield pingpong chan_1_1 chan_4_4 mutex wake timer_p50 timer_p99 \
timer_cpu latency_in latency_out http_cpu_64 http_cpu_1000 " ] || fail "not these cases: $cases"

run bench tasks --json --quick --case spawn --workers 3
line spawn filch 3 | grep -q '"ns_per_op":3' || fail "a number of workers is not taken"
line spawn go 3 | grep -q '"bar":' && fail "a bar for another number of workers"

run bench tasks --quick --case spawn,latency_out
status_is 0
out_has "filch/x"
out_has "0.500  0.20!"
run bench tasks --quick --csv --case spawn,http_cpu_64
out_has "version,error,ratio,bar"
out_has ',"",0.5,0.2'
out_has ',"",1.5,'

# Without filch's own program the run has failed.
rm "$scratch/bench/filch-bench-tasks"
run bench tasks --quick --json --case spawn
status_is 1
line spawn go 2 | grep -q '"ratio":' && fail "a ratio to nothing"
exit 0
