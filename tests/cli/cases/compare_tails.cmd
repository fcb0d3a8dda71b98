awk -f "$TESTS/cases/make_trace.awk" >a.json
awk -v seed=7 -v detect=1.15 -f "$TESTS/cases/make_trace.awk" >b.json
"$TOOL" compare -f csv --threshold "5%,de*.p90=5%,decode.mean=4%,p99=10%" a.json b.json |
  cut -d, -f1,4,7,8,19,21,22
