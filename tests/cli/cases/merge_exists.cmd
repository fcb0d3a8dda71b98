echo mine >m.pplog
$TOOL merge $LOGS/good.pplog -o m.pplog
code=$?
cat m.pplog
exit $code
