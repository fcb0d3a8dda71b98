# The second stage became slower.
awk -f "$TESTS/cases/make_trace.awk" >a.json
awk -v seed=7 -v detect=1.06 -f "$TESTS/cases/make_trace.awk" >b.json
"$TOOL" compare a.json b.json
