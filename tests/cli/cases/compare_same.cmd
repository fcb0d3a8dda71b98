awk -f "$TESTS/cases/make_trace.awk" >a.json
# The same calls, and yet another run.
{ cat a.json; echo; } >b.json
"$TOOL" compare --runs-differ --threshold 2% --fail-on faster,slower,ambiguous a.json b.json
