# A loop of 60 turns of 10 ms that nobody marked as steps: 1 ms data, 3 forward,
# 4 backward, 1 optimizer, 1 nothing; every tenth logs for half of that. Before
# it 400 ms, 250 of them imports; behind turn 30 an evaluation of 100 ms.
awk 'function put(name, from, to) {
  printf "%s{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"%s\",\"ts\":%d,\"dur\":%d}",
         n++ ? "," : "[", name, from, to - from
}
BEGIN {
  put("start", 0, 10); put("imports", 50000, 300000); t = 400000
  for (i = 0; i < 60; i++) {
    put("data", t, t + 1000); put("forward", t + 1000, t + 4000)
    put("backward", t + 4000, t + 8000); put("optimizer", t + 8000, t + 9000)
    if (i % 10 == 9) put("log", t + 9000, t + 9500)
    t += 10000
    if (i == 30) { put("evaluate", t, t + 100000); t += 100000 }
  }
  print "]"
}' >loop.json
sed 's/"pid":1/"pid":2/g; s/forward/decode/g; s/backward/infer/g' loop.json >other.json
"$TOOL" loop.json
"$TOOL" --iteration forward loop.json | head -2
"$TOOL" --no-iterations loop.json | head -4
# Unlike loops are no unit of both.
"$TOOL" loop.json other.json | head -1
