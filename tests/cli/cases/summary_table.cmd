"$TOOL" --style paddle "$LOGS/good.pplog"
