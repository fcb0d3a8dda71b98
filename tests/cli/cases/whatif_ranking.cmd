awk 'BEGIN {
  print "["
  for (i = 0; i < 120; i++) {
    at = 1000 * i
    printf "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"ProfilerStep#%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1000},\n", i, at
    printf "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"load\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":600},\n", at
    printf "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"train\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":300}%s\n", at + 650, i < 119 ? "," : "]"
  }
}' >trace.json
"$TOOL" whatif trace.json
"$TOOL" whatif --top 1 -f csv trace.json
"$TOOL" whatif -f markdown --scale 'l*=2' trace.json
