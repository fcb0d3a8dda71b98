echo '{"traceEvents": [{"ph": "X", "name": "a", "pid": 7, "tid": 7, "ts": 1, "dur": 2}]}' >t.json
$TOOL info t.json | sed -n '1,8p' | grep -v 'uuid\|compressor' | sed -E 's/as a log .*/as a log .../; s/started .*/started .../'
