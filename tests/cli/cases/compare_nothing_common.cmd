awk -f "$TESTS/cases/make_trace.awk" >a.json
awk -v names=x,y,z -f "$TESTS/cases/make_trace.awk" >b.json
"$TOOL" compare -f csv a.json b.json | cut -d, -f1-8,21,22
"$TOOL" compare -o out.csv a.json b.json
