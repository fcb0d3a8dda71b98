echo mine >out.txt
"$TOOL" -o out.txt "$LOGS/good.pplog"
code=$?
cat out.txt
exit $code
