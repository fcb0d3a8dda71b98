# Commits of two runs each: detect becomes slower with 20, and 22 shows it for
# sure.
commit() {
  mkdir -p "$3/$1"
  for run in 1 2; do
    awk -v seed=$((100 * $1 + run)) -v calls=60 -v detect="$2" \
      -f "$TESTS/cases/make_trace.awk" >run.json
    "$TOOL" import run.json -o "$3/$1/$run.pplog" 2>/dev/null
  done
}
for i in 11 12 13 14 15 16 17 18 19; do commit $i 1 nightly; done
"$TOOL" history --fail-on new -f csv nightly
echo $?
commit 20 1.1 nightly
commit 21 1.1 nightly
"$TOOL" history --fail-on new -o early nightly
echo $?
commit 22 1.1 nightly
"$TOOL" history --fail-on new --html page.html nightly
echo $?
grep -c '<svg' page.html
grep -o '>20 +[0-9.]* %' page.html
commit 23 1.1 nightly
"$TOOL" history --fail-on new --stage detect -f csv nightly | cut -d, -f1,5-9,11
"$TOOL" history --fail-on new -o out nightly
echo $?
"$TOOL" history nowhere
