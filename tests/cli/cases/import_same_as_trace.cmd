cat >t.json <<END
{"traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7,
   "ts": 10, "dur": 20, "args": {"Input Dims": [[8, 8]]}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7,
   "tid": 7, "ts": 12, "dur": 5, "args": {"correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 3, "ts": 20,
   "dur": 7.5, "args": {"device": 0, "stream": 3, "correlation": 1}}
]}
END
gzip -n <t.json >t.json.gz
$TOOL -f json t.json >direct
$TOOL import t.json -o x.pplog && $TOOL -f json x.pplog | cmp - direct
$TOOL import t.json.gz -o y.pplog && $TOOL --view kernel -f csv y.pplog
