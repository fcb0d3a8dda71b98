# One run each, beside what runs of one program ever differed by.
for run in 1 2 3 4 5 6; do
  mkdir -p past/$((run % 2))
  awk -v seed=4$run -v detect=1.$((run % 2)) -f "$TESTS/cases/make_trace.awk" >run.json
  "$TOOL" import run.json -o past/$((run % 2))/$run.pplog 2>/dev/null
done
awk -f "$TESTS/cases/make_trace.awk" >a.json
awk -v seed=7 -v detect=1.15 -f "$TESTS/cases/make_trace.awk" >b.json
awk -v seed=8 -v detect=1.01 -f "$TESTS/cases/make_trace.awk" >c.json
for b in b c; do
  "$TOOL" compare --history past -f csv a.json $b.json | cut -d, -f1,14,21,25-31
  "$TOOL" compare --history past -o out.$b a.json $b.json
  echo $?
done
mkdir nothing
"$TOOL" compare --history nothing a.json b.json
echo $?
"$TOOL" compare a.json nothing
