awk -f "$TESTS/cases/make_trace.awk" >a.json
"$TOOL" compare --fail-on slower a.json a.json a.json
