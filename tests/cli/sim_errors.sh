# What `filch sim` does not understand, or cannot do: one line that names the place, status 2, no output.
. "$(dirname "$0")/common.bash"

# wrong SAYS ARGUMENT...
wrong() {
    local says=$1
    shift
    run sim "$@"
    status_is 2
    out_is_empty
    err_is_one_line
    err_has "$says"
    err_has "filch sim --help"
}

file() { printf '%b' "$1" >"$scratch/tasks"; echo "$scratch/tasks"; }

# ---- settings
wrong "there is no scenario 'nosuch'" nosuch
wrong 'there is no setting "nosuch"' run nosuch=1
wrong '"workers" is not a pair' run workers
wrong 'workers=0: at least 1' run workers=0
wrong 'workers=nan: a number' run workers=nan
wrong 'workers=-1: a number' run workers=-1
wrong 'workers=65537: a number' run workers=65537
wrong 'workers=99999999999999999999: a number' run workers=99999999999999999999
wrong 'workers: the value' run workers=
wrong 'duration=nan' run duration=nan
wrong 'duration=-1' run duration=-1
wrong 'duration=exp:inf' run duration=exp:inf
wrong 'duration=1e9' run duration=1e9
wrong 'too large' run duration=999999999999999999
wrong 'No such file' run duration=file:/nonexistent/times
wrong 'wait=nan' run wait=nan
wrong 'until=-1' run until=-1
wrong 'victim=nosuch: one of these' run victim=nosuch
wrong 'spawn=2' run spawn=2
wrong 'speeds=0' run speeds=0
wrong 'burst=1:2: TIME:PLACE:TASKS' run arrive=bursts burst=1:2
wrong 'in the order of their times' run arrive=bursts burst=5:0:1,1:0:1
wrong 'gap: above 0' run arrive=gaps gap=0
wrong 'place: no such worker' run place=9
wrong 'must take time' run idle=yield
wrong 'seed=x' run seed=x

# ---- options
wrong '--reps 0' run --reps 0
wrong '--width nan' run --width nan
wrong '--threads 99999999' run --threads 99999999
wrong 'seed=x' run --seed x
wrong '--svg: a value is missing' run --svg
wrong 'no option --nosuch' run --nosuch

# ---- task files: the line is named
wrong 'list=-: the name of a task file' run load=listed
wrong 'No such file' run load=listed list=/nonexistent/tasks
wrong ':1: cycle: A -> B -> A' run load=listed list="$(file 'A 0 0 1 after=B\nB 0 0 1 after=A\n')"
wrong ':2: duration: "-1"' run load=listed list="$(file 'A 0 0 1\nB 0 0 -1\n')"
wrong ':2: duration: "nan"' run load=listed list="$(file 'A 0 0 1\nB 0 0 nan\n')"
wrong ':2: id A a second time' run load=listed list="$(file 'A 0 0 1\nA 0 0 1\n')"
wrong ':1: 3 columns' run load=listed list="$(file 'A 0 0\n')"
wrong 'no task in it' run load=listed list="$(file '')"
wrong 'task A: there is no worker 99' run load=listed list="$(file 'A 0 99 1\n')"

# ---- trees
wrong 'tree=fib:91: fib: 0 to 90' tree tree=fib:91
wrong 'tree=nosuch:3: no such tree' tree tree=nosuch:3
wrong 'arity: 1 to 65536' tree tree=balanced:0:3
wrong 'tree: load=tree is expected' tree load=plain
wrong 'tree: load=tree is expected' tree leaf=exp:1us
wrong 'workers=0' tree workers=0

# ---- comparisons
wrong 'at least two variants' compare
wrong 'at least two variants' compare random
wrong 'victim=nosuch: one of these' compare random nosuch
wrong 'workers=0: at least 1' compare workers=0 workers=1
wrong 'workers=0: at least 1' compare random largest workers=0
wrong 'metric=nosuch: one of these is expected: makespan' compare random largest metric=nosuch
wrong '--workload nosuch: there is no such scenario' compare random largest --workload nosuch
wrong '--workload: a value is missing' compare random largest --workload
wrong 'q: too many arguments' compare a b c d e f g h i j k l m n o p q

# ---- sweeps
wrong 'a setting with several values' sweep
wrong 'a setting with several values' sweep workers=4
wrong 'workers=: a value is missing' sweep workers=
wrong 'a value is missing' sweep workers=1,,2
wrong '8..2: the range is empty' sweep workers=8..2
wrong 'workers=0..3*2: a range with a factor' sweep 'workers=0..3*2'
wrong 'workers=1..nan: LOW..HIGH' sweep workers=1..nan
wrong 'failed=1ns..5ns: LOW..HIGH' sweep failed=1ns..5ns
wrong 'more than 1000 values' sweep workers=1..5000
wrong 'more than 4096 combinations' sweep workers=1..100 tasks=1..100
wrong 'workers= is given twice' sweep workers=1,2 workers=3,4
wrong 'there is no setting "nosuch"' sweep nosuch=1,2
wrong '"nosuch" is no KEY=VALUES' sweep nosuch
wrong 'workers=0: at least 1' sweep workers=0..3
wrong 'metric=: one of these' sweep workers=1,2 metric=
wrong 'at most 6 of them' sweep workers=1,2 metric=idle,idle,idle,idle,idle,idle,idle

# ---- verify
wrong 'verify has settings of its own' verify workers=3
wrong 'seed=x' verify seed=x

# What is repeated says the same.
repeats() {
    run sim "$@" --json
    status_is 0
    local first=$out command
    command=$(printf '%s' "$out" | sed -n 's/.*"command": "filch sim \([^"]*\)".*/\1/p')
    [ -n "$command" ] || fail "no command"
    # shellcheck disable=SC2086 # words
    run sim $command --json
    status_is 0
    [ "$out" = "$first" ] || fail "'filch sim $command' gives something else"
}

repeats compare victim=random victim=largest --workload arrivals tasks=9 --seed 7 --reps 5
repeats compare exec=1us exec=2us --seed 3 --reps 4
repeats sweep workers=2..4 steal=one,half metric=idle --workload basic --seed 5 --reps 3
repeats tree tree=fib:12 workers=4 --reps 3 --width 50
