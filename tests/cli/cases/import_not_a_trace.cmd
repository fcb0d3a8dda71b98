echo '{"a": 1}' >t.json
$TOOL import t.json
code=$?
ls
exit $code
