awk -f "$TESTS/cases/make_trace.awk" >a.json
awk -v seed=7 -v detect=0.88 -f "$TESTS/cases/make_trace.awk" >b.json
"$TOOL" compare -f csv --fail-on slower,ambiguous --threshold 5% a.json b.json
