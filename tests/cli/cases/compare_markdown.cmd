awk -f "$TESTS/cases/make_trace.awk" >a.json
awk -v seed=7 -v detect=1.06 -f "$TESTS/cases/make_trace.awk" >b.json
"$TOOL" compare -f markdown --stage "de*" --metric mean a.json b.json
