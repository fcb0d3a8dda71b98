"$TOOL" trace --strict "$LOGS/good.pplog"
