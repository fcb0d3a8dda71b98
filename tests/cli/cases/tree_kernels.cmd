cat >t.json <<END
{"traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 7, "tid": 7,
   "ts": 0, "dur": 100},
  {"ph": "X", "cat": "user_annotation", "name": "forward", "pid": 7, "tid": 7,
   "ts": 5, "dur": 45},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7,
   "tid": 7, "ts": 10, "dur": 2, "args": {"correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "void lib::very_long_name_of_a_family_of_kernels_tile64x64<float>(float*)", "pid": 0, "tid": 3, "ts": 20,
   "dur": 10, "args": {"device": 0, "stream": 3, "correlation": 1}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7,
   "tid": 7, "ts": 20, "dur": 2, "args": {"correlation": 2}},
  {"ph": "X", "cat": "kernel", "name": "void lib::very_long_name_of_a_family_of_kernels_tile128x64<float>(float*)", "pid": 0, "tid": 3, "ts": 40,
   "dur": 20, "args": {"device": 0, "stream": 3, "correlation": 2}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 7,
   "tid": 7, "ts": 60, "dur": 2, "args": {"correlation": 3}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH", "pid": 0, "tid": 3,
   "ts": 70, "dur": 5,
   "args": {"device": 0, "stream": 3, "correlation": 3, "bytes": 4096}}
]}
END
"$TOOL" --kernel-tree t.json
echo "== full names, chosen columns, one of each stage"
"$TOOL" --kernel-tree --kernel-names full --top 1 --columns launches,copies,span,delay,delay-p99,copied,GB/s --wide t.json | head -n 6
echo "== the tree leaves them out, and has its columns where they are named"
"$TOOL" --tree --columns calls,kernels,busy t.json | head -n 4
"$TOOL" --kernel-tree -f csv t.json
