# Help is where one looks for it, on stdout, and names every subcommand.
. "$(dirname "$0")/common.bash"

for ask in help --help -h; do
    run $ask
    status_is 0
    err_is_empty
    for command in demo bench soak info help version; do
        out_has "  $command "
    done
done

for command in demo bench soak info version; do
    run $command --help
    status_is 0
    err_is_empty
    out_has "usage: filch $command"
    whole=$out
    run help $command
    status_is 0
    [ "$out" = "$whole" ] || fail "help $command differs from $command --help"
done

run help help
status_is 0
out_has "usage: filch COMMAND"

run version
status_is 0
out_has "filch "
number=$out
run --version
status_is 0
[ "$out" = "$number" ] || fail "--version differs from version"

# A wish without words is a mistake, but the help is the answer.
run
status_is 2
out_is_empty
err_has "usage: filch COMMAND"
