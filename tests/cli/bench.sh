# `filch bench` prints a line for every runtime that it knows: a result, or why there is none.
. "$(dirname "$0")/common.bash"

programs=$(dirname "$FILCH")/bench

line() { printf '%s\n' "$out" | grep "\"runtime\":\"$1\"" | grep "\"mode\":\"$2\"" | grep "\"workers\":$3,"; }

run bench forkjoin --quick --json --case fib --workers 1,2 --timeout 30
lines_are_objects
lines_have suite case runtime mode workers version build
err_count=$(printf '%s\n' "$out" | grep -c '"error":')
for runtime in serial filch tbb libgomp libomp; do
    line $runtime default 1 >/dev/null || fail "no line for $runtime"
done
if [ -x "$programs/filch-bench-gcc-O3" ]; then
    status_is 0
    err_is_empty
    for w in 1 2; do
        for mode in default bounded; do
            line filch $mode $w | grep '"build":"gcc-O3"' | grep -Eq '"ns_per_op":[0-9]*\.?[0-9]+' ||
                fail "no result for filch $mode on $w"
        done
    done
    line filch default 1 | grep '"size":36' | grep '"result":14930352' | grep -q '"samples":\[' ||
        fail "no size, result or samples"
    line serial default 2 >/dev/null && fail "serial code on two workers"
else
    status_is 1
    [ "$err_count" -eq "$(printf '%s\n' "$out" | wc -l)" ] || fail "a result from nowhere"
fi

# A program that is missing, ends badly, gives a wrong result or hangs is a line with an error.
pretend() {
    rm -rf "$scratch/bench"
    mkdir "$scratch/bench"
    for name in serial gcc-O3 gcc-O2 clang-O3 tbb gomp omp; do
        printf '#!/bin/sh\n%s\n' "echo ns_per_op=2.5 size=28 operations=10 runtime_version=a b" \
            >"$scratch/bench/filch-bench-$name"
    done
    printf '#!/bin/sh\n%s\n' "$1" >"$scratch/bench/filch-bench-tbb"
    chmod +x "$scratch"/bench/*
    export FILCH_BENCH_DIR=$scratch/bench
}
ask="bench --json --quick --case fib --workers 1 --timeout 2"

pretend 'echo wrong result: 7 >&2; exit 1'
run $ask
status_is 0
lines_are_objects
line tbb default 1 | grep -q '"error":"status 1: wrong result: 7"' || fail "a wrong result is not told"
line serial default 1 | grep '"ns_per_op":2.5' | grep -q '"runtime_version":"a b"' || fail "figures are lost"

pretend 'kill -11 $$'
run $ask
status_is 0
line tbb default 1 | grep -q '"error":"ended by signal 11"' || fail "a crash is not told"

pretend 'exec sleep 100'
run $ask
status_is 0
line tbb default 1 | grep -q '"error":"took longer than 2 s"' || fail "a hang is not told"

pretend 'echo "say \"what\""'
run $ask
status_is 0
lines_are_objects
line tbb default 1 | grep -q '"error":"unexpected output' || fail "strange output is not told"

pretend true
rm "$scratch/bench/filch-bench-tbb"
run $ask
status_is 0
line tbb default 1 | grep -q '"error":"not built: filch-bench-tbb"' || fail "a missing peer is not told"

# A missing serial program is not a peer.
rm "$scratch/bench/filch-bench-serial"
run $ask
status_is 1

# The smallest sample counts, and programs take turns.
pretend true
for name in serial gcc-O3; do
    cat >"$scratch/bench/filch-bench-$name" <<END
#!/bin/sh
echo $name >>"$scratch/turns"
n=\$(grep -c $name "$scratch/turns")
echo "ns_per_op=\$((10 - n)).5 size=1 operations=1 runtime_version=x"
END
done
run bench --json --case fib --workers 1 --rounds 3 --mode default --build gcc-O3 --runtime serial,filch
status_is 0
line filch default 1 | grep '"ns_per_op":7.5' | grep '"median":8.5' |
    grep -q '"samples":\[9.5,8.5,7.5\]' || fail "not the minimum of three"
[ "$(tr '\n' ' ' <"$scratch/turns")" = "serial gcc-O3 serial gcc-O3 serial gcc-O3 " ] ||
    fail "programs do not take turns: $(cat "$scratch/turns")"

# Without a number of rounds: seven, and more for all while the smallest time of one stands alone.
settles() { # settles SERIAL FILCH EXPECTED: commands that set ns from n, the number of the run
    rm -f "$scratch/settling"
    pretend true
    for name in serial gcc-O3; do
        cat >"$scratch/bench/filch-bench-$name" <<END
#!/bin/sh
echo $name >>"$scratch/settling"
n=\$(grep -c $name "$scratch/settling")
if [ $name = serial ]; then $1; else $2; fi
echo "ns_per_op=\$ns size=1 operations=1 runtime_version=x"
END
    done
    run bench --json --case fib --workers 1 --mode default --build gcc-O3 --runtime serial,filch
    status_is 0
    for name in serial gcc-O3; do
        [ "$(grep -c $name "$scratch/settling")" -eq "$3" ] ||
            fail "$name ran $(grep -c $name "$scratch/settling") times, not $3"
    done
}
settles 'ns=3.00; [ $n -eq 5 ] && ns=2.99' 'ns=4' 7
settles 'ns=3.00' 'ns=$((50 - n)); [ $n -gt 10 ] && ns=40.$((n - 10))' 12
settles 'ns=3.00' 'ns=$((100 - 2 * n))' 21

# For people, and for spreadsheets.
pretend true
rm "$scratch/bench/filch-bench-tbb"
run bench --quick --case fib --workers 1
status_is 0
out_has "T1/Ts"
out_has "not built: filch-bench-tbb"
run bench --quick --csv --case fib --workers 1
status_is 0
out_has "suite,case,runtime,build,mode,workers,ns_per_op,median,size,rounds,version,error"
out_has "forkjoin,fib,filch,gcc-O3,default,1,2.5,2.5,28,1,"

# What exists on filch only.
unset FILCH_BENCH_DIR
if [ -x "$programs/filch-bench-pool" ]; then
    run bench scope --quick --json --workers 1,2
    status_is 0
    lines_are_objects
    [ "$(printf '%s\n' "$out" | grep -c '"size":10000,"cancel_ns":[0-9]*,"close_ns":')" -eq 4 ] ||
        fail "not two cases on one worker and on two"
fi
