# Device work that calls of the runtime launched has the kernels' names.
# trace STEPS OPERATORS: 20 turns of two kernels, of 300 and 100 us.
trace() {
  awk -v steps="$1" -v operators="$2" 'BEGIN {
    host = "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"cat\":\"%s\",\"name\":\"%s\",\"ts\":%d,\"dur\":%d,\"args\":{\"correlation\":%d}}"
    printf "{\"schemaVersion\":1,\"traceEvents\":["
    for (i = 0; i < 20; i++) {
      t = 1000 + 500 * i
      if (steps) printf host ",", "user_annotation", "ProfilerStep#" i, t, 500, 0
      if (operators) printf host ",", "cpu_op", "aten::mm", t, 20, 0
      printf host ",", "cuda_runtime", "cudaLaunchKernel", t + 5, 5, 2 * i + 1
      printf host ",", "cuda_runtime", "cudaLaunchKernel", t + 12, 5, 2 * i + 2
      printf "{\"ph\":\"X\",\"pid\":0,\"tid\":3,\"cat\":\"kernel\",\"name\":\"gemm\",\"ts\":%d,\"dur\":300,\"args\":{\"device\":0,\"stream\":3,\"correlation\":%d}},", t + 20, 2 * i + 1
      printf "{\"ph\":\"X\",\"pid\":0,\"tid\":3,\"cat\":\"kernel\",\"name\":\"relu\",\"ts\":%d,\"dur\":100,\"args\":{\"device\":0,\"stream\":3,\"correlation\":%d}}%s", t + 330, 2 * i + 2, i < 19 ? "," : "]}"
    }
  }' >t.json
}
for of in "0 0" "0 1" "1 0" "1 1"; do
  echo "== steps, operators: $of"
  trace $of
  "$TOOL" t.json | sed -n '1p;/^Answer/p;/^Where/,/^total/p'
done
echo "== a run"
trace 0 0
"$TOOL" --no-iterations t.json | sed -n '1p;/^Answer/p;/^Where/,/^total/p'
