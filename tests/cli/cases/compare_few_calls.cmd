"$TOOL" compare "$LOGS/good.pplog" "$LOGS/lossy.pplog"
