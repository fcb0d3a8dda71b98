awk -f "$TESTS/cases/make_trace.awk" >a.json
"$TOOL" compare --threshold 2% --fail-on faster,slower,ambiguous a.json a.json
