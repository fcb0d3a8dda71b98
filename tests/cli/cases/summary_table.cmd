"$TOOL" "$LOGS/good.pplog"
