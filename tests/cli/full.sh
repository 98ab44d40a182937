# What cannot be written is a failure, whatever the subcommand: one line on stderr, status 1.
. "$(dirname "$0")/common.bash"
[ -w /dev/full ] || exit 77

lost() { # lost ARGUMENT...
    timeout 110 "$FILCH" "$@" >/dev/full 2>"$scratch/err" </dev/null
    status=$? out="of filch $*" err=$(grep -v '^filch soak: seed\|^$' "$scratch/err")
    status_is 1
    err_has 'cannot write to standard output'
}

lost info
lost info --json
lost version
lost --version
lost version --help
lost help
lost help sim
lost sim --help
lost sim keys
lost sim basic --no-plot --quiet workers=2 tasks=100
lost sim basic --json --quiet workers=2 tasks=100
lost demo --help
lost bench --help
lost soak --help
[ ! -x "$BUILD_DIR/filch-soak" ] || lost soak --seconds 1 --json
[ ! -d "$BUILD_DIR/bench" ] || lost bench forkjoin --case fib --runtime serial --rounds 1 --quick --json

"$FILCH" version >&- 2>"$scratch/err"
status=$? out='' err=$(cat "$scratch/err")
status_is 1
err_has 'cannot write to standard output: Bad file descriptor'
