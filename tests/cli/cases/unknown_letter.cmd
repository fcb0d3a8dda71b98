"$TOOL" -z "$LOGS/good.pplog"
