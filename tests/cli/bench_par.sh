# `filch bench par` compares algorithms with what other runtimes have, as far as these are there.
. "$(dirname "$0")/common.bash"

programs=$(dirname "$FILCH")/bench
cases="for_light reduce scan find_any sort_int sort_cmp for_irregular for_tiny"

line() { printf '%s\n' "$out" | grep "\"case\":\"$1\"" | grep "\"runtime\":\"$2\"" | grep "\"workers\":$3,"; }

# A line for every case, runtime and number of workers; only scans are not in all.
run bench par --quick --json --timeout 60
lines_are_objects
lines_have suite case runtime mode workers version build
for name in $cases; do
    for runtime in filch tbb gomp omp rayon; do
        for w in 1 2; do
            line $name $runtime $w >/dev/null && continue
            [ $name-$runtime = scan-rayon ] || fail "no line for $name of $runtime on $w"
        done
    done
    line $name serial 1 >/dev/null || fail "no line for $name of serial code"
    line $name serial 2 >/dev/null && fail "serial code on two workers"
done
line scan rayon 1 >/dev/null && fail "a scan that Rayon does not have"
if [ -x "$programs/filch-bench-par" ]; then
    status_is 0
    err_is_empty
    for name in $cases; do
        for w in 1 2; do
            line $name filch $w | grep -q '"ns_per_op":' || fail "no result for $name on $w"
        done
    done
    line for_light filch 2 | grep -q '"size":100000,' || fail "not the small size"
else
    status_is 1
fi

# Each program does every case on sizes that do not divide well, with a right result.
for program in par par-clang par-serial par-tbb par-gomp par-omp par-rayon; do
    [ -x "$programs/filch-bench-$program" ] || continue
    for name in $cases; do
        [ $name-$program = scan-par-rayon ] && continue
        for ask in "1 default 1009" "2 default 1" "3 default 1009"; do
            answer=$(timeout 60 "$programs/filch-bench-$program" $name $ask 2>&1)
            case $answer in
            "ns_per_op="*" size=${ask##* } "*"runtime_version="*) ;;
            *) fail "$program $name $ask: $answer" ;;
            esac
        done
    done
    for bad in "nonsense 2 default" "reduce 0 default" "reduce 2 nonsense" "reduce 2 default 0" "reduce 2"; do
        "$programs/filch-bench-$program" $bad >/dev/null 2>&1
        [ $? -eq 2 ] || fail "$program takes: $bad"
    done
done

# Filch against each, against the best on as many workers, and against serial code.
mkdir "$scratch/bench"
pretend() { # NAME ONE TWO: what it says on one worker and on more
    {
        printf '#!/bin/sh\n[ $2 = 1 ] && t=%s || t=%s\n' "$2" "$3"
        printf 'echo "ns_per_op=$t size=7 operations=9 runtime_version=x y"\n'
    } >"$scratch/bench/filch-bench-$1"
    chmod +x "$scratch/bench/filch-bench-$1"
}
pretend par-serial 8 0
pretend par 10 6
pretend par-tbb 20 3
pretend par-gomp 5 12
pretend par-rayon 40 4
export FILCH_BENCH_DIR=$scratch/bench
run bench par --json --rounds 2
status_is 0
lines_are_objects
line reduce tbb 1 | grep -q '"ratio":0.5,' || fail "no ratio to tbb"
line reduce tbb 2 | grep -q '"ratio":2,' || fail "no ratio to tbb on two"
line reduce serial 1 | grep -q '"ratio":1.25,' || fail "no ratio to serial code"
line reduce filch 1 | grep '"peer_ratio":2,' | grep -q '"serial_ratio":1.25,' || fail "not ranked on one"
line reduce filch 2 | grep '"peer_ratio":2,' | grep -q '"serial_ratio":0.75,' || fail "not ranked on two"
line reduce filch 2 | grep -q '"ratio":' && fail "filch is compared with itself"
line reduce tbb 2 | grep -q 'peer_ratio' && fail "a peer is ranked"
line reduce filch 2 | grep -q '"error":"not built: filch-bench-par-clang"' || fail "no line for a second build"
line reduce omp 2 | grep -q '"error":"not built: filch-bench-par-omp"' || fail "a missing peer is not told"
found=$(printf '%s\n' "$out" | sed 's/.*"case":"\([^"]*\)".*/\1/' | uniq | tr '\n' ' ')
[ "$found" = "$cases " ] || fail "not these cases: $found"

run bench par --quick --case reduce
status_is 0
out_has "par/reduce: 9 operations, size 7"
out_has "filch/x    /peer  /serial"
printf '%s\n' "$out" | grep -Eq '^filch .* 2 +6\.00 +6\.00 +2\.000 +0\.750$' || fail "no rank in the table"
printf '%s\n' "$out" | grep -Eq '^tbb .* 2 +3\.00 +3\.00 +2\.000 *$' || fail "no ratio in the table"
run bench par --quick --csv --case reduce
out_has "version,error,ratio,bar,peer_ratio,serial_ratio"
printf '%s\n' "$out" | grep -q '^par,reduce,filch,.*,"",,,2,0.75$' || fail "no rank in the list"
run bench par --quick --json --case reduce --runtime filch --workers 3
line reduce filch 3 | grep -q '"ns_per_op":6' || fail "a number of workers is not taken"
line reduce filch 3 | grep -q '_ratio' && fail "a rank among nobody"

# A wrong result is told, and is a failure if it is filch's.
for who in par par-tbb; do
    printf '#!/bin/sh\necho "wrong result: reduce" >&2\nexit 1\n' >"$scratch/bench/filch-bench-$who"
done
run bench par --quick --json --case reduce --runtime serial,tbb
status_is 0
line reduce tbb 1 | grep -q '"error":"status 1: wrong result: reduce"' || fail "a wrong result is not told"
run bench par --quick --json --case reduce
status_is 1
exit 0
