# `filch info` tells what the library sees; the environment shows.
. "$(dirname "$0")/common.bash"

number() { printf '%s\n' "$out" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }

run info
status_is 0
err_is_empty
for word in CPU workers ordering kernel compiler policy; do
    out_has "$word "
done

run info --json
status_is 0
err_is_empty
lines_are_objects
lines_have version cpu cpus_online cpus_allowed limited_by workers_default workers membarrier \
    page_size kernel compiler policy
[ "$(printf '%s\n' "$out" | wc -l)" -eq 1 ] || fail "more than one line"
[ "$(number workers_default)" -ge 1 ] || fail "no worker"
[ "$(number workers_default)" -le "$(number cpus_allowed)" ] || fail "more workers than CPUs allowed"
out_has '"policy":"victim=random,'

FILCH_WORKERS=3 FILCH_POLICY=victim=order,steal=one FILCH_NO_MEMBARRIER=1 run info --json
status_is 0
lines_are_objects
[ "$(number workers)" -eq 3 ] || fail "FILCH_WORKERS=3 gives $(number workers) workers"
out_has '"policy":"victim=order,steal=one,'
out_has '"membarrier":false'

FILCH_POLICY=ends=lifo,victim=two,wake=random,run_next=off run info --json
out_has '"policy":"victim=two,steal=half,ends=lifo,wake=random,idle=park,join=suspend,queue=ring,run_next=off"'
FILCH_POLICY=queue=locked run info --json
out_has 'ends=reverse,wake=one,idle=park,join=suspend,queue=locked,run_next=on"'

FILCH_POLICY=victim=frobnicate run info --json
status_is 0
lines_are_objects
lines_have policy_error
out_has "victim is one of random one order"

# The man page has every key and every word.
page=$SOURCE_DIR/docs/man/filch.1
keys=$(FILCH_POLICY=x "$FILCH" info | sed -n 's/.*there are //p')
[ "$(echo "$keys" | wc -w)" -ge 17 ] || fail "few keys: $keys"
for key in $keys; do
    grep -qw -- "$key" "$page" || fail "the man page has no $key"
    words=$(FILCH_POLICY=$key=? "$FILCH" info | sed -n 's/.* is one of //p')
    for word in $words; do
        grep -qw -- "$word" "$page" || fail "the man page has no $key=$word"
    done
done

if command -v taskset >/dev/null; then
    allowed=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
    timeout 60 taskset -c "$allowed" "$FILCH" info --json >"$scratch/out" 2>"$scratch/err"
    status=$? out=$(cat "$scratch/out") err=$(cat "$scratch/err")
    status_is 0
    [ "$(number workers_default)" -eq 1 ] || fail "one CPU is allowed, but not one worker"
fi
