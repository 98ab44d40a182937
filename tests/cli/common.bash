# Sourced by the tests of the command. FILCH is its path. A test calls `run` and then makes claims
# about $status, $out and $err; the first that does not hold ends it.
set -u
: "${FILCH:?path of the command}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset FILCH_WORKERS FILCH_POLICY FILCH_STATS FILCH_BENCH_DIR FILCH_NO_MEMBARRIER

fail() {
    printf 'FAILED: %s\nstatus %s\n--- stdout\n%s\n--- stderr\n%s\n' "$*" "${status-}" "${out-}" "${err-}" >&2
    exit 1
}

run() {
    timeout 110 "$FILCH" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    out=$(cat "$scratch/out")
    err=$(cat "$scratch/err")
}

status_is() { [ "$status" -eq "$1" ] || fail "status is not $1"; }
out_has() { case $out in *"$1"*) ;; *) fail "stdout lacks: $1" ;; esac; }
err_has() { case $err in *"$1"*) ;; *) fail "stderr lacks: $1" ;; esac; }
out_is_empty() { [ -z "$out" ] || fail "stdout is not empty"; }
err_is_empty() { [ -z "$err" ] || fail "stderr is not empty"; }
err_is_one_line() { [ "$(printf '%s\n' "$err" | wc -l)" -eq 1 ] && [ -n "$err" ] || fail "stderr is not one line"; }

# Every line is one flat JSON object: strings, numbers, true, false, arrays of numbers.
lines_are_objects() {
    local string='"([^"\\]|\\.)*"' number='-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?'
    local value="($string|$number|true|false|null|\[($number(,$number)*)?\])"
    local object="^\{$string:$value(,$string:$value)*\}\$"
    [ -n "$out" ] || fail "no line"
    printf '%s\n' "$out" | grep -Evq "$object" && fail "not an object: $(printf '%s\n' "$out" | grep -Ev "$object" | head -1)"
    return 0
}

lines_have() {
    local key
    for key in "$@"; do
        printf '%s\n' "$out" | grep -vq "\"$key\":" && fail "a line lacks $key"
    done
    return 0
}
