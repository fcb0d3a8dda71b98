awk -f "$TESTS/cases/make_trace.awk" >a.json
awk -v seed=7 -v detect=1.06 -f "$TESTS/cases/make_trace.awk" >b.json
awk -v seed=9 -v detect=1.12 -v decode=0.9 -f "$TESTS/cases/make_trace.awk" >c.json
"$TOOL" compare a.json b.json c.json
