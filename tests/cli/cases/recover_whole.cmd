cp "$LOGS/good.pplog" run.pplog
"$TOOL" recover run.pplog
code=$?
cmp run.pplog "$LOGS/good.pplog"
exit $code
