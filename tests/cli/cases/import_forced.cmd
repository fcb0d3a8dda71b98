# The log takes the place of the one before, also beside a .part of a run that
# was killed, which is not touched.
echo '{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "ts": 0, "dur": 1}]}' \
  >one.json
echo '{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "ts": 0, "dur": 1},
  {"ph": "X", "name": "a", "pid": 1, "ts": 2, "dur": 1}]}' >two.json
echo killed >t.pplog.part
$TOOL import one.json -o t.pplog && ls && $TOOL check t.pplog | sed -n 1p
$TOOL import two.json -o t.pplog --force && ls && $TOOL check t.pplog | sed -n 1p
cat t.pplog.part
