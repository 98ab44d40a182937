# The man page of `filch sim` has the scenarios and the settings that the command has.
. "$(dirname "$0")/common.bash"
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$(diff "$root/docs/man/filch-sim.1" <("$root/scripts/man-sim.sh" "$FILCH")) ||
    fail "docs/man/filch-sim.1 (<) is not what scripts/man-sim.sh makes (>)"
grep -q '^\.B basic' "$root/docs/man/filch-sim.1" || fail "no scenario in the page"
grep -q '^\.BR cycle_attempts' "$root/docs/man/filch-sim.1" || fail "no setting in the page"
