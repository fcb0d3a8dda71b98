# Requests of three stages of 2 ms, one begins each 10 ms. The recording ends
# after `decode` of the last one. In dropped.json the third has no `classify`.
trace() {
  awk -v dropped="$1" 'BEGIN {
    printf "{\"displayTimeUnit\":\"ns\",\"pprofTrace\":1,\"baseTimeNanoseconds\":5000000000,\n\"traceEvents\":[\n"
    printf "{\"ph\":\"i\",\"s\":\"p\",\"name\":\"window 0 opens\",\"cat\":\"window\",\"ts\":0,\"pid\":4,\"tid\":4},\n"
    split("decode detect classify", stages)
    for (i = 1; i <= 6; i++)
      for (k = 1; k <= (i == 6 ? 1 : 3); k++)
        if (i != dropped || k < 3)
          printf "{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"UserDefined\",\"ts\":%d,\"dur\":2000,\"pid\":4,\"tid\":44,\"args\":{\"window\":0,\"flows\":[\"%d\"]}},\n",
                 stages[k], 10000 * i + 2500 * k, i
    printf "{\"ph\":\"i\",\"s\":\"p\",\"name\":\"window 0 closes\",\"cat\":\"window\",\"ts\":65000,\"pid\":4,\"tid\":4},\n"
    printf "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":4,\"tid\":44,\"args\":{\"name\":\"main\",\"lane\":6}}],\n"
    printf "\"otherData\":{\"uuid\":\"a\",\"host\":\"a\",\"pid\":\"4\",\"time_base_realtime_ns\":\"5000000000\",\"shift_ns\":0,\"lanes\":[{\"id\":0,\"of\":0,\"number\":0,\"name\":\"process\"},{\"id\":6,\"of\":0,\"number\":45,\"name\":\"main\"}],\"devices\":[],\"streams\":[],\"trust\":{\"recorded\":16},\"notes\":[]}}\n"
  }'
}
trace 0 >cut.json
trace 3 >dropped.json
printf 'expect:\n  - request has decode -> detect -> classify\n  - request has classify = 1\n' >rules.yaml
"$TOOL" check --expect rules.yaml cut.json
echo $?
"$TOOL" check --expect rules.yaml dropped.json
