echo '{"traceEvents": []}' >t.json
mkfifo pipe
$TOOL import t.json -o pipe --force
code=$?
[ -p pipe ] && echo "still a pipe"
exit $code
