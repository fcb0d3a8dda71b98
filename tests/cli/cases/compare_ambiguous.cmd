awk -f "$TESTS/cases/make_trace.awk" >a.json
awk -v seed=7 -v calls=20 -f "$TESTS/cases/make_trace.awk" >b.json
"$TOOL" compare --fail-on ambiguous -f csv a.json b.json | cut -d, -f1-8,21,22
