awk -f "$TESTS/cases/make_trace.awk" >a.json
awk -v seed=7 -v names=decode,segment,classify -f "$TESTS/cases/make_trace.awk" >b.json
"$TOOL" compare -f csv --fail-on ambiguous a.json b.json | cut -d, -f1-8,21,22
