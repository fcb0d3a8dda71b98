cat >t.json <<END
{"traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "void ns::gemm<float, 128>(float*)",
   "pid": 0, "tid": 3, "ts": 20, "dur": 10,
   "args": {"device": 0, "stream": 3, "grid": [132, 1, 1],
   "block": [256, 1, 1], "registers per thread": 64, "shared memory": 49152}},
  {"ph": "X", "cat": "kernel", "name": "void ns::gemm<double, 128>(float*)",
   "pid": 0, "tid": 3, "ts": 40, "dur": 20,
   "args": {"device": 0, "stream": 3, "grid": [132, 1, 1],
   "block": [256, 1, 1], "registers per thread": 64, "shared memory": 49152}},
  {"ph": "X", "cat": "kernel", "name": "void ns::gemm<double, 128>(float*)",
   "pid": 0, "tid": 3, "ts": 80, "dur": 20,
   "args": {"device": 0, "stream": 3, "grid": [66, 2, 1],
   "block": [32, 8, 1], "registers per thread": 64, "shared memory": 49152,
   "theoretical occupancy %": 37.5, "occupancy limit": "shared memory"}},
  {"ph": "X", "cat": "kernel", "name": "relu", "pid": 0, "tid": 3, "ts": 100,
   "dur": 50, "args": {"device": 0, "stream": 3}}
]}
END
"$TOOL" --view launches t.json | head -12
"$TOOL" --view launches --kernel-names full -f csv t.json
