cp "$LOGS/good.pplog" run.pplog
echo mine >run.trace.json.gz
"$TOOL" trace run.pplog
code=$?
cat run.trace.json.gz
exit $code
