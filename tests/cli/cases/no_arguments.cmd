"$TOOL" 2>said
code=$?
"$TOOL" help | diff - said
exit $code
