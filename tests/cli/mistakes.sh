# A request that makes no sense: one line on stderr that says what to do next, status 2, no output.
. "$(dirname "$0")/common.bash"

refused() {
    local says=$1 next=$2
    shift 2
    run "$@"
    status_is 2
    out_is_empty
    err_is_one_line
    err_has "$says"
    err_has "$next"
}

refused "no subcommand 'frobnicate'" "filch help" frobnicate
refused "no subcommand 'frobnicate'" "filch help" help frobnicate
refused "'--frobnicate' is not an option" "filch info --help" info --frobnicate
refused "'now' is not expected" "filch info --help" info now
refused "'now' is not expected" "filch version --help" version now
refused "'--frobnicate' is not an option" "filch demo --help" demo --frobnicate
refused "'many' is not a number of workers" "filch demo --help" demo --workers many
refused "'-3' is not a number of workers" "filch demo --help" demo --workers=-3
refused "must end in .pgm or .ppm" "filch demo --help" demo --image picture.gif
refused "'--image' needs a value" "filch demo --help" demo --image
refused "no suite 'frobnicate'" "filch bench --help" bench frobnicate
refused "no case 'frobnicate'" "filch bench --help" bench --case fib,frobnicate
refused "'0' is not a valid value" "filch bench --help" bench --rounds 0
refused "'1,x' is not a valid value" "filch bench --help" bench --workers 1,x
refused "nothing matches" "filch bench --help" bench --case fib --runtime frobnicate
