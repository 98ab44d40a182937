# Servers whose clients reach the limit of open files go on once some have left: the example, and the program that
# README.md and io.h show.
. "$(dirname "$0")/common.bash"
: "${BUILD_DIR:?}" "${SOURCE_DIR:?}" "${CC:?}"
echo=$BUILD_DIR/examples/echo
[ -x "$echo" ] || exit 77
limit=40 server=

stop() { [ -z "$server" ] || kill -9 "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
trap 'stop; rm -rf "$scratch"' EXIT

# connect: a connection in $peer.
connect() { exec {peer}<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null

# serve COMMAND...: it runs with few descriptors, and listens at $port. False: the port was taken.
serve() {
    (ulimit -n $limit && exec "$@") >/dev/null 2>"$scratch/err" &
    server=$!
    until connect; do
        kill -0 $server 2>/dev/null || return 1
        sleep 0.02
    done
    exec {peer}>&-
}

outlives_the_limit() { # outlives_the_limit NAME
    local many=() i line=
    for ((i = 0; i < 2 * limit; i++)); do
        connect || fail "$1: no connection $i"
        many+=("$peer")
    done
    for ((i = 0; i < 500; i++)); do
        [ "$(ls /proc/$server/fd 2>/dev/null | wc -l)" -lt $limit ] || break
        kill -0 $server 2>/dev/null || fail "$1: it ended with the limit"
        sleep 0.02
    done
    for i in "${many[@]}"; do
        exec {i}>&-
    done
    connect || fail "$1: it has ended"
    printf 'hi\n' >&"$peer"
    read -r -t 60 -u "$peer" line
    exec {peer}>&-
    [ "$line" = hi ] || fail "$1: no echo any more"
    stop
    server=
}

# program FILE LINE-PATTERN: what stands between ```c or the comment's margin, from that include on.
awk '/^```/ { if (has) exit; inside = /^```c$/; text = ""; next }
     inside { text = text $0 "\n"; has = has || /filch_accept/ }
     END { printf "%s", text }' "$SOURCE_DIR/README.md" >"$scratch/readme.c"
awk '/^ \*     #include/ { inside = 1 } /^ \*$/ { next } inside && !/^ \*     / { exit }
     inside { sub(/^ \*     /, ""); print }' "$SOURCE_DIR/include/filch/io.h" >"$scratch/header.c"

try() { # try NAME COMMAND-WITH-A-PORT...: on ports until one is free
    local name=$1 tries
    for ((tries = 0; tries < 20; tries++)); do
        port=$((20000 + RANDOM % 12000))
        case $name in
        echo) serve "$echo" $port ;;
        *)
            sed "s/7777/$port/" "$scratch/$name.c" >"$scratch/$name-port.c"
            "$CC" -std=gnu11 -O1 ${LINK_FLAGS-} -I"$SOURCE_DIR/include" "$scratch/$name-port.c" -o "$scratch/$name" \
                "$BUILD_DIR/libfilch.a" -pthread || fail "$name does not compile"
            serve "$scratch/$name" ;;
        esac && break
    done
    [ $tries -lt 20 ] || fail "$name does not listen: $(cat "$scratch/err")"
    outlives_the_limit "$name"
}
try echo
try readme
try header
