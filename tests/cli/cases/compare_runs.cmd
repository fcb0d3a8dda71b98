# Three modes of a compiler, 55 calls each: ranked from one run each, then from
# three runs each, as folders.
mode() {
  mkdir "$1"
  for run in 1 2 3; do
    awk -v seed="$3$run" -v calls=55 -v detect="$2" \
      -f "$TESTS/cases/make_trace.awk" >run.json
    "$TOOL" import run.json -o "$1/$run.pplog" 2>/dev/null
  done
}
mode default 2.03 1
mode reduce-overhead 1.616 2
mode max-autotune 1.03 3
"$TOOL" compare --stage detect */1.pplog
"$TOOL" compare --stage detect default reduce-overhead max-autotune
# Of two sides with several runs the programs decide.
"$TOOL" compare -f csv --stage detect max-autotune default | cut -d, -f1,21,23-31
"$TOOL" compare -o out max-autotune default
echo $?
"$TOOL" compare -o same max-autotune max-autotune
echo $?
