cp "$LOGS/good.pplog" run.pplog
echo mine >run.trace.json
"$TOOL" trace run.pplog
code=$?
cat run.trace.json
exit $code
