# lint.awk: the lint, one pass over all files. Plain POSIX awk.

BEGIN {
    # rooms[R] = which rooms a file of R may include. `public` is include/, `ord` is filch/ord.h alone.
    rooms["base"] = " base ord "
    rooms["os"] = " base os ord "
    rooms["obs"] = " base os obs ord "
    rooms["policy"] = " base policy ord public "
    rooms["core"] = " base os obs policy core ord public "
    rooms["par"] = " base os core par ord public "
    rooms["fiber"] = " base os obs core fiber ord public "
    rooms["sim"] = " base policy sim ord public "
    rooms["public"] = " ord public "
    rooms["tools"] = " policy sim tools bench ord public "
    rooms["soak"] = " base os obs core soak tools ord public "
    rooms["bench"] = " policy sim tools bench ord public "
    rooms["examples"] = " examples ord public "
    rooms["mc"] = " mc os ord public "

    machine = "^(pthread|unistd|time|sched|signal|ucontext|semaphore|threads|poll|dlfcn)[.]h$|^(sys|linux|asm)/"
    atomic_op = "filch_(load|store|xchg|add|sub|cas|fence)_"
    raw_atomic = "__atomic_|__sync_|memory_order_|(^|[^A-Za-z0-9_])(_Atomic|volatile|__volatile__)([^A-Za-z0-9_]|$)"
    exits = "(^|[^A-Za-z0-9_])(exit|_exit|_Exit|quick_exit)[ ]*[(]"
}

FNR == 1 { end_file(); begin_file() }
{ check_text() }
is_c { split_line($0); check_include(); check_code(); check_guard(); check_order() }
END {
    end_file()
    if (count) {
        printf "lint: %d problems in %d files\n", count, nfiles
        exit 1
    }
    printf "lint: %d files, no problems\n", nfiles
}

function report(line, message)
{
    printf "%s:%d: %s\n", path, line, message
    count++
}

function begin_file()
{
    nfiles++
    path = FILENAME
    is_c = path ~ /[.][ch](pp)?$/
    in_comment = 0
    waiting = 0
    explained = -100
    comment_has_order = 0
    guard_state = 0
    directory = path
    sub(/[^\/]*$/, "", directory)
    room = ""
    if (path ~ /^include\//) room = "public"
    else if (path ~ /^src\/[^\/]*\//) { room = path; sub(/^src\//, "", room); sub(/\/.*/, "", room) }
    else if (path ~ /^tools\/soak\//) room = "soak"
    else if (path ~ /^(tools|bench|examples|mc)\//) { room = path; sub(/\/.*/, "", room) }
    is_ord = path == "include/filch/ord.h" || path ~ /^src\/base\/ord_[^\/]*[.]h$/
    is_shipped = path ~ /^(src|include)\//
}

function end_file()
{
    if (path == "") return
    if (is_c) {
        give_up_waiting()
        if (room == "public" && guard_state != 2)
            report(1, "public header without include guard " guard_name())
    }
    if (no_final_newline(path)) report(last_line, "no newline at the end of the file")
    path = ""
}

function no_final_newline(file,    command, answer)
{
    command = "tail -c 1 '" file "' | wc -l"
    command | getline answer
    close(command)
    return answer + 0 == 0
}

# ---- text -------------------------------------------------------------------------------------

function check_text(    columns)
{
    last_line = FNR
    if ($0 ~ /[ \t\r]$/) report(FNR, "trailing whitespace")
    if (!is_c) return
    if ($0 ~ /\t/) report(FNR, "tab")
    columns = $0
    gsub(/[\200-\277]/, "", columns) # UTF-8: count characters, not bytes
    if (length(columns) > 110) report(FNR, "line of " length(columns) " columns, at most 110")
}

# Splits a line into `code` (comments gone, strings empty) and `comment`.
function split_line(rest,    at, mark, quote)
{
    code = ""
    comment = ""
    while (rest != "") {
        if (in_comment) {
            at = index(rest, "*/")
            if (!at) { comment = comment rest; return }
            comment = comment substr(rest, 1, at - 1)
            rest = substr(rest, at + 2)
            in_comment = 0
            comment_ended = 1
            continue
        }
        if (!match(rest, /["']|\/\*|\/\//)) { code = code rest; return }
        mark = substr(rest, RSTART, RLENGTH)
        code = code substr(rest, 1, RSTART - 1)
        rest = substr(rest, RSTART + RLENGTH)
        if (mark == "//") { comment = comment rest; return }
        if (mark == "/*") { in_comment = 1; code = code " "; continue }
        quote = mark
        rest = after_string(rest, quote)
        code = code quote quote
    }
}

function after_string(rest, quote,    i, c)
{
    for (i = 1; i <= length(rest); i++) {
        c = substr(rest, i, 1)
        if (c == "\\") i++
        else if (c == quote) return substr(rest, i + 1)
    }
    return ""
}

# ---- who may include what ----------------------------------------------------------------------

function check_include(    name, quoted, target)
{
    if ($0 !~ /^[ ]*#[ ]*include[ ]*["<]/) return
    name = $0
    sub(/^[ ]*#[ ]*include[ ]*/, "", name)
    quoted = substr(name, 1, 1) == "\""
    name = substr(name, 2)
    sub(/[">].*/, "", name)

    if (name == "stdatomic.h" && !is_ord) report(FNR, "<stdatomic.h>: atomics come from filch/ord.h")
    if (room == "core" && !quoted && name ~ machine)
        report(FNR, "src/core must not include <" name ">: the machine is behind os/os.h")
    if (!(room in rooms)) return
    if (name ~ /(^|\/)[.][.]\//) {
        if (is_shipped) { report(FNR, "include \"" name "\": name the room, not the way there"); return }
        name = resolve(directory name)
        sub(/^src\//, "", name)
    }
    target = room_of(name, quoted)
    if (target == "" || index(rooms[room], " " target " ")) return
    if (target == "ord") target = "public"
    report(FNR, place(room) " must not include " place(target) " (" name ")")
}

function room_of(name, quoted,    first)
{
    if (name == "filch/ord.h") return "ord"
    if (name ~ /^filch[.]h(pp)?$/ || name ~ /^filch\//) return "public"
    if (!quoted) return ""
    if (name !~ /\//) return exists(directory name) ? room : "unknown"
    first = name
    sub(/\/.*/, "", first)
    if (first in rooms) return first
    if (first == "include") return "public"
    return exists(directory name) ? room : "unknown"
}

function resolve(name)
{
    while (sub(/[^\/.][^\/]*\/[.][.]\//, "", name)) continue
    return name
}

function exists(file,    line, answer)
{
    answer = (getline line < file)
    close(file)
    return answer >= 0
}

function place(r)
{
    if (r == "public") return room ~ /^(base|os|obs)$/ ? "public headers other than filch/ord.h" : "include"
    if (r == "unknown") return "a header of no room"
    return r ~ /^(tools|bench|examples)$/ ? r : "src/" r
}

# ---- words that belong elsewhere ---------------------------------------------------------------

function check_code(    text)
{
    text = code
    if (!is_ord) {
        if (room == "os" || !is_shipped) gsub(/(__asm__|asm)[ ]+(volatile|__volatile__)/, "", text)
        if (match(text, raw_atomic)) {
            text = substr(text, RSTART, RLENGTH)
            gsub(/[^A-Za-z_]/, "", text)
            report(FNR, text ": only filch/ord.h and its back ends touch atomic memory")
        }
    }
    if (path ~ /^src\// && code ~ exits) report(FNR, "the library never calls exit")
}

function guard_name(    name)
{
    name = path
    sub(/^include\//, "", name)
    name = toupper(name)
    gsub(/[^A-Z0-9]/, "_", name)
    return name
}

# #ifndef NAME as the first thing that is not a comment, #define NAME right after it.
function check_guard(    words)
{
    if (room != "public" || guard_state == 2 || code ~ /^[ ]*$/) return
    split(code, words)
    if (guard_state == 0 && words[1] == "#ifndef" && words[2] == guard_name()) guard_state = 1
    else if (guard_state == 1 && words[1] == "#define" && words[2] == guard_name()) guard_state = 2
    else guard_state = -1
}

# ---- every atomic operation says why -----------------------------------------------------------

# Explained: an `order:` comment that ends at most 3 lines above, or stands beside the statement.
function check_order()
{
    if (!is_shipped || is_ord) return
    if (comment ~ /order:/) comment_has_order = 1
    if (comment_has_order) explained = FNR
    if (!in_comment) comment_has_order = 0
    if (waiting && explained == FNR) waiting = 0
    if (code ~ atomic_op && FNR - explained > 3 && !waiting) waiting = FNR
    if (waiting && (code ~ /[;{]/ || FNR - waiting >= 2)) give_up_waiting()
}

function give_up_waiting()
{
    if (waiting) report(waiting, "atomic operation without an `order:` comment")
    waiting = 0
}
