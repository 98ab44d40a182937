# examples/http serves while others are silent, send garbage or close half of their connection. SIGTERM drains
# it: a request under way is answered, and the status is 0.
. "$(dirname "$0")/common.bash"
http=${BUILD_DIR:?}/examples/http
[ -x "$http" ] || exit 77

"$http" --port 0 --workers 2 >"$scratch/out" 2>"$scratch/err" &
server=$!
trap 'kill -9 $server 2>/dev/null; rm -rf "$scratch"' EXIT
until grep -q '^http: port' "$scratch/out"; do
    kill -0 $server 2>/dev/null || fail "it ended by itself: $(cat "$scratch/err")"
    sleep 0.05
done
port=$(sed -n 's/^http: port //p' "$scratch/out")

# ask TEXT: sends it, and prints what comes back until the server closes.
ask() {
    exec 3<>"/dev/tcp/127.0.0.1/$port" || fail "no connection"
    printf '%b' "$1" >&3
    timeout 60 cat <&3
    exec 3<&-
}
get() { ask "GET $1 HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"; }
answers() { # answers PATTERN TEXT
    out=$(ask "$2" | tr -d '\r')
    case $out in *$1*) ;; *) fail "not '$1' to '$2'" ;; esac
}

exec 4<>"/dev/tcp/127.0.0.1/$port" # says nothing, all the time
exec 5<>"/dev/tcp/127.0.0.1/$port" # says half of something
printf 'GET / HT' >&5
for round in 1 2 3; do
    answers 'HTTP/1.1 400 ' "garbage\n\n$round\n"
    answers 'HTTP/1.1 400 ' '\0\01\02\0377\n'
    answers 'HTTP/1.1 413 ' 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n'
    answers 'HTTP/1.1 414 ' "GET /$(head -c 20000 /dev/zero | tr '\0' a)"
    case $(get /) in *hello*) ;; *) fail "no hello" ;; esac
    case $(get /fib/30) in *832040*) ;; *) fail "no fib" ;; esac
done
for ((try = 0; try < 100; try++)); do # a connection that was just closed is counted for a moment
    out=$(get /metrics)
    case $out in *'http_connections 3'*) break ;; esac
    sleep 0.1
done
out_has 'http_connections 3'
out_has 'http_errors_total 12'
out_has 'filch_events_total{event="stolen"} '

answers 'HTTP/1.1 200 ' 'GET http://here/fib/10 HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n'
answers 'Content-Length: 6' 'HEAD / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n'
case $out in *hello*) fail "a body in the answer to HEAD" ;; esac

# The limit of the first line is the same whether the line comes in one piece or in two.
line() { printf 'GET /%s HTTP/1.1\\r\\n' "$(head -c $(($1 - 16)) /dev/zero | tr '\0' a)"; } # of so many bytes
rest='Host: here\r\nConnection: close\r\n\r\n'
answers 'HTTP/1.1 404 ' "$(line 8000)$rest"
answers 'HTTP/1.1 414 ' "$(line 8001)$rest"
exec 3<>"/dev/tcp/127.0.0.1/$port" || fail "no connection"
whole=$(line 8001)
printf '%s' "${whole:0:100}" >&3
sleep 0.1
printf '%b' "${whole:100}$rest" >&3
out=$(timeout 60 cat <&3)
exec 3<&-
out_has 'HTTP/1.1 414 '

# A client that sends its questions and closes that half. (Bash cannot: the example is its own client.)
timeout 60 "$http" >"$scratch/self" 2>&1 || fail "it does not answer itself: $(cat "$scratch/self")"

if command -v wrk >/dev/null; then
    out=$(wrk -t1 -c100 -d1s "http://127.0.0.1:$port/" 2>&1)
    out_has 'Requests/sec'
    case $out in *errors* | *Non-2xx*) fail "wrk saw errors" ;; esac
fi

# On a connection that was accepted, a request that is there when the signal comes is answered.
exec 6<>"/dev/tcp/127.0.0.1/$port"
printf 'GET /fib/0 HTTP/1.1\r\nHost: here\r\n\r\n' >&6
read -r -t 60 out <&6 || fail "no answer on a connection that is kept"
printf 'GET /fib/35 HTTP/1.1\r\nHost: here\r\n\r\n' >&6
kill -TERM $server
out=$(timeout 60 cat <&6)
out_has 9227465
wait $server
status=$? out=$(cat "$scratch/out") err=$(cat "$scratch/err")
trap 'rm -rf "$scratch"' EXIT
status_is 0
err_is_empty
out_has "http: drained, "
