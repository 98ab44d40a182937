# paths-code.awk: how many instructions and memory operands a function has, from a disassembly. Plain POSIX awk.
# usage: objdump -d --no-show-raw-insn OBJECT... | awk -f paths-code.awk FUNCTIONS -
# FUNCTIONS: a name, or a beginning with *, per line. Prints `NAME instructions N` and `NAME operands N` in the order of
# names. What a compiler has split off or cloned (.part, .constprop, .isra, .lto_priv) counts for the function, and so do
# several functions of one name. What it has put aside as unlikely (.cold) does not, nor do nop and padding.
# An operand is a place in memory that an instruction names: `(%rdi)`, `%fs:0x28`, `[x0]`; not that of lea, whose
# address is only computed, and not the stack of push, pop, call and ret.

NR == FNR {
    if ($1 != "" && $1 !~ /^#/) wanted[++wishes] = $1
    next
}
/^[0-9a-f]+ <.*>:$/ { name = function_of($2); next }
/^ +[0-9a-f]+:\t/ && name != "" { count($0) }
END {
    n = 0
    for (f in instructions) sorted[++n] = f
    sort(n)
    for (i = 1; i <= n; i++) {
        print sorted[i], "instructions", instructions[sorted[i]]
        print sorted[i], "operands", operands[sorted[i]] + 0
    }
    exit n == 0
}

# The function that a symbol belongs to, or "" if it is not counted.
function function_of(symbol)
{
    gsub(/[<>:]/, "", symbol)
    if (symbol ~ /[.]cold/) return ""
    sub(/[.].*/, "", symbol)
    return is_wanted(symbol) ? symbol : ""
}

function is_wanted(symbol,    i, wish)
{
    for (i = 1; i <= wishes; i++) {
        wish = wanted[i]
        if (wish ~ /[*]$/ ? index(symbol, substr(wish, 1, length(wish) - 1)) == 1 : symbol == wish) return 1
    }
    return 0
}

function count(line,    part, text, what)
{
    split(line, part, "\t")
    text = part[2] " " part[3]
    sub(/ +(#|;|\/\/) .*/, "", text)  # notes of the disassembler
    gsub(/<[^>]*>/, "", text)
    while (match(text, /^(lock|rep|repz|repnz|bnd|notrack|data16|cs|ds|es) /)) text = substr(text, RLENGTH + 1)
    what = text
    sub(/ .*/, "", what)
    if (what == "" || what ~ /^(nop|int3)/ || text ~ /^xchg +%ax,%ax/) return
    instructions[name]++
    if (what !~ /^lea/ && text ~ /[(]|\[|%[fg]s:/) operands[name]++
}

function sort(n,    i, j, x)
{
    for (i = 2; i <= n; i++) {
        x = sorted[i]
        for (j = i - 1; j > 0 && sorted[j] > x; j--) sorted[j + 1] = sorted[j]
        sorted[j + 1] = x
    }
}
