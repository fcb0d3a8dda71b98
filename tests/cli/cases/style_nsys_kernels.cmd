cat >t.json <<END
{"traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 7, "tid": 7,
   "ts": 0, "dur": 100},
  {"ph": "X", "cat": "user_annotation", "name": "forward", "pid": 7, "tid": 7,
   "ts": 5, "dur": 45},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7,
   "tid": 7, "ts": 10, "dur": 2, "args": {"correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 3, "ts": 20,
   "dur": 10, "args": {"device": 0, "stream": 3, "correlation": 1,
   "grid": [132, 1, 1], "block": [256, 1, 1], "registers per thread": 64}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7,
   "tid": 7, "ts": 20, "dur": 2, "args": {"correlation": 2}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 3, "ts": 40,
   "dur": 20, "args": {"device": 0, "stream": 3, "correlation": 2,
   "grid": [132, 1, 1], "block": [256, 1, 1], "registers per thread": 32}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 7,
   "tid": 7, "ts": 60, "dur": 2, "args": {"correlation": 3}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH", "pid": 0, "tid": 3,
   "ts": 70, "dur": 5,
   "args": {"device": 0, "stream": 3, "correlation": 3, "bytes": 4096}}
]}
END
"$TOOL" --style nsys t.json
