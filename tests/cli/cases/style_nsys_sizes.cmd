cat >t.json <<END
{"traceEvents": [
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH", "pid": 0, "tid": 3,
   "ts": 10, "dur": 5, "args": {"device": 0, "stream": 3, "bytes": 4096}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 3,
   "ts": 20, "dur": 50, "args": {"device": 0, "stream": 3, "bytes": 1000000}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 3,
   "ts": 80, "dur": 150, "args": {"device": 0, "stream": 3, "bytes": 4000000}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 3,
   "ts": 240, "dur": 40, "args": {"device": 0, "stream": 3, "bytes": 1000000}},
  {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0,
   "tid": 3, "ts": 300, "dur": 4, "args": {"device": 0, "stream": 3}}
]}
END
"$TOOL" --style nsys t.json | sed -n '/by Time/,/^Identity/p' | grep -v Identity
"$TOOL" --style nsys -f csv t.json | sed -n '/mem_size_sum/,$p' | head -4
