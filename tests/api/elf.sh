# How the shared library presents itself to the loader: name, no executable stack, read-only
# relocations bound at start, never unloaded, and no text relocations.
set -u
failures=0
expect() # expect WHAT PATTERN TEXT
{
    if ! printf '%s\n' "$3" | grep -qE "$2"; then
        echo "not so: $1 (looked for $2)"
        failures=$((failures + 1))
    fi
}

segments=$(readelf -lW "$LIBRARY")
dynamic=$(readelf -dW "$LIBRARY")
stack=$(printf '%s\n' "$segments" | grep GNU_STACK)
expect "the stack is not executable" ' RW +0x' "$stack"
expect "relocations become read-only" 'GNU_RELRO' "$segments"
expect "symbols are bound at start" 'FLAGS_1.*NOW' "$dynamic"
expect "the library stays loaded" 'FLAGS_1.*NODELETE' "$dynamic"
expect "its name is libfilch.so.0" 'SONAME.*\[libfilch\.so\.0\]' "$dynamic"
if printf '%s\n' "$dynamic" | grep -q TEXTREL; then
    echo "there are text relocations"
    failures=$((failures + 1))
fi
exit $((failures > 0))
