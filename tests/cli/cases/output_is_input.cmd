cp "$LOGS/good.pplog" log.pplog
"$TOOL" --force -o log.pplog log.pplog
code=$?
cmp log.pplog "$LOGS/good.pplog"
exit $code
