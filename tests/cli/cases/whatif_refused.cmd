awk 'BEGIN {
  print "["
  for (i = 0; i < 120; i++) {
    at = 1000 * i
    printf "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"ProfilerStep#%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1000},\n", i, at
    printf "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"load\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":600},\n", at
    printf "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"train\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":300}%s\n", at + 650, i < 119 ? "," : "]"
  }
}' >trace.json
for scale in laod=0.5 load load= =2 load=half load=-1 load=1,, device:load=2; do
  "$TOOL" whatif --scale "$scale" trace.json
  echo $?
done
"$TOOL" whatif "$LOGS/good.pplog"
echo $?
"$TOOL" whatif
echo $?
set --
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33; do
  set -- "$@" --scale load=0.5
done
"$TOOL" whatif "$@" trace.json
echo $?
