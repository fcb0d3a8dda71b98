# What all stages begin with is left out of names that are too long.
awk 'BEGIN {
  split("prepare_inputs execute_model sample_tokens", stage, " ")
  for (i = 0; i < 3; i++)
    for (k = 1; k <= 3; k++)
      printf "%s{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"worker.gpu.Runner.%s\",\"ts\":%d,\"dur\":%d}",
             n++ ? "," : "[", stage[k], 10000 * i + 3000 * k, 1000 * k
  print "]"
}' >names.json
"$TOOL" names.json | sed -n '/go  /,/^total/p'
