# The ruler compares rightly: scripts/paths.awk on figures made up here; nothing is counted.
set -u
awk=$SOURCE_DIR/scripts/paths.awk
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cases=0
failures=0

list() # list FILE LINE...: after the usual first line
{
    printf '# gcc 12.2.0 x86_64\n' >"$tmp/$1"
    printf '%s\n' "${@:2}" >>"$tmp/$1"
}

# expects NAME STATUS REGEX AWK-OPTIONS...: what paths.awk says of the lists `stored` and `now`; no line may match !REGEX.
expects()
{
    local name=$1 status=$2 regex=$3 got found=yes
    shift 3
    cases=$((cases + 1))
    awk "$@" -f "$awk" "$tmp/stored" "$tmp/now" >"$tmp/out" 2>&1
    got=$?
    grep -Eq "${regex#!}" "$tmp/out" || found=no
    if [ "${regex#!}" != "$regex" ]; then [ $found = yes ] && found=no || found=yes; fi
    if [ "$got" -ne "$status" ] || [ $found = no ]; then
        echo "FAILED: $name: status $got, expected $status and /$regex/"
        sed 's/^/    /' "$tmp/out"
        failures=$((failures + 1))
    fi
}
compares() { expects "$@" -v mode=compare -v tolerance=0.5; } # compares NAME STATUS REGEX

# says NAME STATUS REGEX ARGUMENTS...: the command itself, which does not get as far as to build anything.
says()
{
    local name=$1 status=$2 regex=$3 got
    shift 3
    cases=$((cases + 1))
    "$SOURCE_DIR/scripts/paths.sh" "$@" >"$tmp/out" 2>&1
    got=$?
    if [ "$got" -ne "$status" ] || ! grep -Eq -e "$regex" "$tmp/out"; then
        echo "FAILED: $name: status $got, expected $status and /$regex/"
        sed 's/^/    /' "$tmp/out"
        failures=$((failures + 1))
    fi
}

list stored '# a remark' '' 'fork executed 24.000' 'yield   executed  200.000'
cp "$tmp/stored" "$tmp/now"
compares 'the same is no rise' 0 '^yield executed +200.000 +200.000 +1.0000$'
list now 'fork executed 24.000' 'yield executed 201.001'
compares 'a rise beyond the tolerance fails' 1 '^yield executed +201.001 +200.000 +1.0050  rose$'
compares 'what did not rise is not blamed' 1 '^fork executed +24.000 +24.000 +1.0000$'
expects 'a larger tolerance allows it' 0 '!rose' -v mode=compare -v tolerance=3
list now 'fork executed 24.000' 'yield executed 200.999'
compares 'a rise within the tolerance passes' 0 '!rose'
list now 'fork executed 24.000' 'yield executed 150.000'
compares 'a fall passes and is told' 0 '^yield executed +150.000 +200.000 +0.7500  fell$'
list now 'fork executed 24.000' 'yield executed 200' 'nap executed 7.000'
compares 'a case that is not stored is told' 0 '^nap executed +7.000 +- +-  not stored$'
list now 'yield executed 200.000'
compares 'a case that is gone fails' 1 '^fork executed +- +24.000 +-  gone$'
expects 'unless it was not asked for' 0 '!fork' -v mode=compare -v tolerance=0.5 -v cases='^yield$'
list now 'fork executed 24.000' 'yield executed 200.000'
printf 'filch_go instructions 120\n' >>"$tmp/stored"
expects 'a measure that was not asked for is not compared' 0 '!filch_go' -v mode=compare -v tolerance=0.5 -v measures=executed
compares 'a function that is gone fails' 1 '^filch_go instructions +- +120 +-  gone$'

list now 'fork executed 30.000'
expects 'new figures replace the stored ones' 0 '^fork +executed +30.000$' -v mode=merge
expects 'what is gone is not stored again' 0 '!yield' -v mode=merge
expects 'what was not asked for stays' 0 '^yield +executed +200.000$' -v mode=merge -v cases='^fork$'
expects 'another measure stays' 0 '^filch_go +instructions +120$' -v mode=merge -v measures=executed
expects 'the compiler stands first' 0 '^# gcc 12.2.0 x86_64$' -v mode=merge
sed -i '1s/12.2.0/13.1.0/' "$tmp/now"
compares 'another compiler is not compared' 77 'stored for "gcc 12.2.0 x86_64", here is "gcc 13.1.0 x86_64"'
expects 'figures of another compiler are not kept' 0 '!filch_go|yield' -v mode=merge -v cases='^fork$'
list now 'fork executed many'
compares 'what is not a figure is refused with its place' 2 'now:2: "fork executed many" is not CASE MEASURE FIGURE'
: >"$tmp/now"
compares 'an empty list is refused' 2 'a list is empty'

# counts NAME REGEX LINE...: what paths-code.awk finds in a disassembly of these lines. No line matches !REGEX.
counts()
{
    local name=$1 regex=$2 found=yes
    shift 2
    cases=$((cases + 1))
    printf '%s\n' "$@" | awk -f "$SOURCE_DIR/scripts/paths-code.awk" "$tmp/wanted" - >"$tmp/out" 2>&1
    grep -Eq "${regex#!}" "$tmp/out" || found=no
    if [ "${regex#!}" != "$regex" ]; then [ $found = yes ] && found=no || found=yes; fi
    if [ $found = no ]; then
        echo "FAILED: $name: expected /$regex/"
        sed 's/^/    /' "$tmp/out"
        failures=$((failures + 1))
    fi
}
printf '# functions\npop\nring_*\n' >"$tmp/wanted"
tab=$(printf '\t')
pop="0000000000000000 <pop>:"
counts 'instructions are counted' '^pop instructions 2$' "$pop" "   0:${tab}push   %rbx" "   1:${tab}ret"
counts 'padding is none' '^pop instructions 1$' "$pop" "   0:${tab}ret" "   1:${tab}nopw   0x0(%rax,%rax,1)" "   9:${tab}xchg   %ax,%ax"
counts 'an exchange is one' '^pop instructions 1$' "$pop" "   0:${tab}xchg   %rax,(%rdi)"
counts 'places in memory are operands' '^pop operands 3$' "$pop" "   0:${tab}mov    (%rdi),%rax" \
    "   3:${tab}lock cmpxchg %rdx,0x8(%rdi)" "   9:${tab}mov    %fs:0x28,%rax"
counts 'those of the other machine, too' '^pop operands 1$' "$pop" "   0:${tab}ldr${tab}x1, [x0, #8]" "   4:${tab}add${tab}x0, x0, x1"
counts 'an address that is only computed is none' '^pop operands 0$' "$pop" "   0:${tab}lea    0x8(%rdi),%rax"
counts 'names of targets are none' '^pop operands 0$' "$pop" "   0:${tab}jmp    9 <f(int)+0x9>"
counts 'a clone counts for its function' '^pop instructions 2$' "$pop" "   0:${tab}ret" "0000000000000010 <pop.constprop.0>:" "  10:${tab}ret"
counts 'what is unlikely does not' '^pop instructions 1$' "$pop" "   0:${tab}ret" "0000000000000010 <pop.cold>:" "  10:${tab}ret"
counts 'others are left out' '!push' "$pop" "   0:${tab}ret" "0000000000000010 <push>:" "  10:${tab}ret"
counts 'a beginning names many' '^ring_push instructions 1$' "0000000000000010 <ring_push>:" "  10:${tab}ret"

says 'it explains itself' 0 '--against' --help
says 'an unknown option is refused' 2 'unknown option --fast' --fast
says 'a tolerance is a number' 2 'not a percentage' --tolerance much
says 'an option needs its value' 2 '--case needs a value' --case
says 'figures of another tree are not stored' 2 'not with --against' --update --against "$tmp"
VALGRIND=$tmp/none says 'without valgrind it says so' 77 'skipped'

echo "$cases cases, $failures failed"
exit $((failures > 0))
