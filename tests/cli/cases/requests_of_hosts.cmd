# 40 requests of 10 ms, numbered by contexts: `ask` of one host takes each from
# its begin to its end, and in it `infer` of another host takes 6 ms. `ask` keeps
# its thread, and waits. Each way may have 2 ms, by clocks that differ by as much.
trace() {
  awk -v host="$1" -v parts="$2" 'BEGIN {
    printf "{\"displayTimeUnit\":\"ns\",\"pprofTrace\":1,\"baseTimeNanoseconds\":5000000000,\n\"traceEvents\":[\n"
    printf "{\"ph\":\"i\",\"s\":\"p\",\"name\":\"window 0 opens\",\"cat\":\"window\",\"ts\":0,\"pid\":4,\"tid\":4},\n"
    num = split(parts, all, " ")
    for (i = 0; i < 40; i++)
      for (k = 1; k + 2 < num; k += 3)
        printf "{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"UserDefined\",\"ts\":%d,\"dur\":%d,\"pid\":4,\"tid\":44,\"args\":{\"window\":0,\"flows\":[\"184467440737095515%02d\"]}},\n",
               all[k], 10000 * i + all[k + 1] + (i < 25 ? 0 : all[num]), all[k + 2], i
    printf "{\"ph\":\"i\",\"s\":\"p\",\"name\":\"window 0 closes\",\"cat\":\"window\",\"ts\":500000,\"pid\":4,\"tid\":4},\n"
    printf "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":4,\"tid\":44,\"args\":{\"name\":\"main\",\"lane\":6}}],\n"
    printf "\"otherData\":{\"uuid\":\"%s\",\"host\":\"%s\",\"pid\":\"4\",\"time_base_realtime_ns\":\"5000000000\",\"shift_ns\":0,\"lanes\":[{\"id\":0,\"of\":0,\"number\":0,\"name\":\"process\"},{\"id\":6,\"of\":0,\"number\":45,\"name\":\"main\"}],\"devices\":[],\"streams\":[],\"trust\":{\"recorded\":40},\"notes\":[]}}\n", host, host
  }' >"$1.json"
}
report() {
  "$TOOL" front.json back.json "$@" |
    sed 's/^[0-9-]* [0-9:]* ([0-9]* days ago) · //; /^Complete/,$d'
}
trace front "ask 0 10000 0"
trace back "infer 2000 6000 0"
report
# Here the ways lie in a hole of the first host.
trace front "read 0 1000 reply 9000 1000 0"
COLUMNS=80 report | sed -n '/requests in/,/clocks/p; /^Where/,$p'
COLUMNS=100 report | grep -E "over hosts|each way"
"$TOOL" front.json back.json -f json |
  grep -oE '"host_clocks".*clock_bound_ns":[0-9]*|"between stages",[^]]*'
"$TOOL" html front.json back.json -o hosts.html 2>html.out
grep -o "over hosts,[^\"]*clocks" hosts.html
# The other host's clock is set by 30 ms: no difference fits all requests.
trace back "infer 2000 6000 30000"
report | grep -A1 "over hosts"
"$TOOL" front.json back.json -f json | grep -o '"host_clocks":[^,]*'
