"$TOOL" trace "$LOGS/good.pplog" "$LOGS/lossy.pplog"
