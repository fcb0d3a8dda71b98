echo '{"traceEvents": [{"ph": "X", nonsense' >t.json
$TOOL t.json
