# 40 requests of 10 ms, numbered by contexts: `ask` of one host takes each from
# its begin to its end, and in it `infer` of another host takes 6 ms. `ask` keeps
# its thread, and waits.
trace() {
  awk -v host="$1" -v name="$2" -v after="$3" -v for_us="$4" 'BEGIN {
    printf "{\"displayTimeUnit\":\"ns\",\"pprofTrace\":1,\"baseTimeNanoseconds\":5000000000,\n\"traceEvents\":[\n"
    printf "{\"ph\":\"i\",\"s\":\"p\",\"name\":\"window 0 opens\",\"cat\":\"window\",\"ts\":0,\"pid\":4,\"tid\":4},\n"
    for (i = 0; i < 40; i++)
      printf "{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"UserDefined\",\"ts\":%d,\"dur\":%d,\"pid\":4,\"tid\":44,\"args\":{\"window\":0,\"flows\":[\"184467440737095515%02d\"]}},\n",
             name, 10000 * i + after, for_us, i
    printf "{\"ph\":\"i\",\"s\":\"p\",\"name\":\"window 0 closes\",\"cat\":\"window\",\"ts\":400000,\"pid\":4,\"tid\":4},\n"
    printf "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":4,\"tid\":44,\"args\":{\"name\":\"main\",\"lane\":6}}],\n"
    printf "\"otherData\":{\"uuid\":\"%s\",\"host\":\"%s\",\"pid\":\"4\",\"time_base_realtime_ns\":\"5000000000\",\"shift_ns\":0,\"lanes\":[{\"id\":0,\"of\":0,\"number\":0,\"name\":\"process\"},{\"id\":6,\"of\":0,\"number\":45,\"name\":\"main\"}],\"devices\":[],\"streams\":[],\"trust\":{\"recorded\":40},\"notes\":[]}}\n", host, host
  }' >"$1.json"
}
trace front ask 0 10000
trace back infer 2000 6000
"$TOOL" front.json back.json |
  sed 's/^[0-9-]* [0-9:]* ([0-9]* days ago) · //; /^Complete/,$d'
