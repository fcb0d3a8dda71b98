PPROF_OTPUT=x "$TOOL" run -o report.txt -- "$RUN_CHILD" 2>&1 >/dev/null |
  grep unknown
