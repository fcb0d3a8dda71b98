"$TOOL" check "$LOGS/good.pplog"
