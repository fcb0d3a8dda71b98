# Autograd's arrows, also in a log and in a trace of it, make no requests unless
# those are asked for; arrows of another kind do.
cat >links.json <<END
{"traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 7,
   "tid": 7, "ts": 0, "dur": 100},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7,
   "ts": 10, "dur": 20},
  {"ph": "X", "cat": "cpu_op", "name": "MmBackward0", "pid": 7, "tid": 8,
   "ts": 60, "dur": 20},
  {"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 7, "tid": 7,
   "ts": 10},
  {"ph": "f", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 7, "tid": 8,
   "ts": 60, "bp": "e"}
]}
END
sed 's/"fwdbwd"/"order"/g' links.json >orders.json
$TOOL import links.json -o links.pplog && $TOOL trace links.pplog -o back.json
grep -c '"cat":"flow"' back.json
for from in links.json links.pplog back.json orders.json; do
  $TOOL $from | sed -n '/^$/{n;p;q}'
done
$TOOL --view requests --warmup 0 -f csv links.pplog | cut -d, -f1,5
