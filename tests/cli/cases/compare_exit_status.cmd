awk -f "$TESTS/cases/make_trace.awk" >a.json
awk -v seed=7 -v detect=1.15 -f "$TESTS/cases/make_trace.awk" >b.json
for on in slower same faster ambiguous none slower,faster; do
  "$TOOL" compare --runs-differ --threshold 5% --fail-on $on -o out.$on a.json b.json
  echo "$on $?"
done
"$TOOL" compare --runs-differ --threshold "5%,detect.p50=20%" -o out a.json b.json
echo "20% $?"
