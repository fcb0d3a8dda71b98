"$TOOL" --top -1 "$LOGS/good.pplog"
