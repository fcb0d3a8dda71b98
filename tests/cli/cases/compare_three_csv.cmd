awk -f "$TESTS/cases/make_trace.awk" >a.json
awk -v seed=7 -v detect=1.06 -f "$TESTS/cases/make_trace.awk" >b.json
awk -v seed=9 -v names=decode,segment,classify -f "$TESTS/cases/make_trace.awk" >c.json
"$TOOL" compare -f csv b.json a.json c.json
