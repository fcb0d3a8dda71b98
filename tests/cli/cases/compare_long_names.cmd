# A narrow table cuts a long name, a wide one has it whole.
for run in a b; do
  awk 'BEGIN {
    for (i = 0; i < 40; i++)
      printf "%s{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"worker.gpu.Runner.prepare_all_inputs_of_a_batch\",\"ts\":%d,\"dur\":%d}",
             i ? "," : "[", 100 * i, 50 + i % 7
    print "]"
  }' >$run.json
done
for options in "" --wide "-f csv"; do
  # shellcheck disable=SC2086
  COLUMNS=80 LC_ALL=C.UTF-8 "$TOOL" compare --force $options a.json b.json 2>/dev/null |
    grep -o '^worker[^ ,]*' | sort -u
done
