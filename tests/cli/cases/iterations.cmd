# A loop of 60 turns of 10 ms that nobody marked as steps: 1 ms data, 3 forward,
# 4 backward, 1 optimizer, 1 nothing; every tenth logs for half of that, in five
# parts. Before it 400 ms, 250 of them imports; behind turn 30 an evaluation of
# 100 ms. At the end the data ends.
awk 'function put(name, from, to) {
  printf "%s{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"%s\",\"ts\":%d,\"dur\":%d}",
         n++ ? "," : "[", name, from, to - from
}
BEGIN {
  put("start", 0, 10); put("imports", 50000, 300000); t = 400000
  for (i = 0; i < 60; i++) {
    put("data", t, t + 1000); put("forward", t + 1000, t + 4000)
    put("backward", t + 4000, t + 8000); put("optimizer", t + 8000, t + 9000)
    for (k = 0; k < 500 && i % 10 == 9; k += 100)
      put("log", t + 9000 + k, t + 9100 + k)
    t += 10000
    if (i == 30) { put("evaluate", t, t + 100000); t += 100000 }
  }
  put("data", t, t + 20)
  print "]"
}' >loop.json
sed 's/"pid":1/"pid":2/g; s/forward/decode/g; s/backward/infer/g' loop.json >other.json
"$TOOL" loop.json
"$TOOL" --iteration forward loop.json | sed -n '/^$/{n;p;n;p;q}'
"$TOOL" --no-iterations loop.json | head -5
# A thread that goes round the same loop for 20 turns takes nothing from it if it
# came earlier; turns of threads beside each other are no unit.
for from in 0 400; do
  awk -v from=$from 'function put(name, tid, from, to) {
    printf "%s{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"name\":\"%s\",\"ts\":%d,\"dur\":%d}",
           n++ ? "," : "[", tid, name, from, to - from
  }
  function turn(tid, t) { put("data", tid, t, t + 1000); put("train", tid, t + 1000, t + 9000) }
  BEGIN {
    for (i = 0; i < 20; i++) turn(2, 1000 * from + 10000 * i)
    for (i = 20; i < 80; i++) turn(1, 10000 * i)
    print "]"
  }' >same.json
  "$TOOL" same.json | sed -n '/^$/{n;p;q}'
done
# A range that takes no part in nesting is a part of the start-up, too.
sed 's/"X",\([^{]*"name":"imports","ts":50000\),"dur":250000/"b","cat":"c","id":1,\1},{"ph":"e","cat":"c","id":1,"pid":1,"tid":1,"name":"imports","ts":300000/' loop.json >loose.json
"$TOOL" loose.json | grep start-up
# Of few such ranges none is a task of an event loop: what lies between stages
# counts, though no task is open there.
awk 'function put(ph, name, at, more) {
  printf "%s{\"ph\":\"%s\",\"pid\":1,\"tid\":1,\"cat\":\"c\",\"name\":\"%s\",\"ts\":%d,%s}",
         n++ ? "," : "[", ph, name, at, more
}
BEGIN {
  put("b", "load", 0, "\"id\":1"); put("e", "load", 3000, "\"id\":1")
  for (t = 3000; t < 603000; t += 10000) {
    put("X", "data", t, "\"dur\":1000"); put("X", "infer", t + 7000, "\"dur\":3000")
  }
  print "]"
}' >gaps.json
"$TOOL" gaps.json | head -2
# A package's parts, each imported by itself, are no turns.
sed 's/"name":"[di][an][tf][ae]r*"/"name":"import httpx"/g' gaps.json >imports.json
"$TOOL" imports.json | sed -n '/^$/{n;p;q}'
# Unlike loops are no unit of both, but where they have nothing in common.
"$TOOL" loop.json other.json | sed -n '/^$/{n;p;q}'
sed -i 's/data/batch/g; s/optimizer/reply/g; s/imports/load/g; s/evaluate/swap/g; s/start/boot/g; s/log/say/g' other.json
"$TOOL" loop.json other.json | grep -e kinds -e " go"

# Kernels alone, 60 turns of 1.45 ms with 150 us of nothing; an evaluation at
# each twentieth; and without a word of when they were launched.
awk 'function put(name, dur) {
  printf "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,\"tid\":7,\"name\":\"%s\",\"ts\":%d,\"dur\":%d,\"args\":{\"device\":0,\"stream\":7}}",
         n++ ? "," : "", name, t, dur
  t += dur + 2
}
BEGIN {
  printf "{\"deviceProperties\":[{\"id\":0,\"name\":\"one\"}],\"traceEvents\":["
  t = 1000; put("init", 500)
  for (i = 0; i < 60; i++) {
    put("gemm", 300); put("relu", 40); put("gemm", 300); put("softmax", 60)
    put("backward", 500); put("adam", 88)
    if (i % 20 == 19) put("evaluate", 200)
    t += 150
  }
  print "]}"
}' >kernels.json
"$TOOL" kernels.json | sed -n '/^$/{n;p;n;p;q}'
"$TOOL" --no-iterations kernels.json | sed -n '/^$/{n;p;q}'
