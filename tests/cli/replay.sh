# The run view of a page replays records. Its replay needs no browser, but node.
command -v node >/dev/null 2>&1 || { echo "no node"; exit 77; }
node "$SOURCE_DIR/tests/cli/replay.js"
