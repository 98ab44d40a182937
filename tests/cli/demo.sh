# `filch demo` gives the serial results on any number of workers, and writes its picture.
. "$(dirname "$0")/common.bash"

for workers in 1 2 7; do
    run demo --quick --workers $workers
    status_is 0
    err_is_empty
    for word in "UTS tree" "6213 nodes, 67 deep" n-queens "724 ways" "merge sort" Mandelbrot \
        "worker $((workers - 1)) " "Verdict: every result is the same"; do
        out_has "$word"
    done
done

picture_is() {
    run demo --quick --image "$scratch/picture.$1"
    status_is 0
    out_has "picture.$1"
    [ "$(head -c 2 "$scratch/picture.$1")" = "$2" ] || fail "not $2"
    [ "$(wc -c <"$scratch/picture.$1")" -eq $((15 + 160 * 120 * $3)) ] || fail "a picture of the wrong size"
}
picture_is pgm P5 1
picture_is ppm P6 3

run demo --quick --image "$scratch/no/such/folder.pgm"
status_is 1
err_has "cannot write"
