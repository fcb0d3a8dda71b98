"$TOOL" -f markdown "$LOGS/good.pplog"
