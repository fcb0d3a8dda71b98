"$TOOL" compare "$LOGS/good.pplog"
