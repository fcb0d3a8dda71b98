"$TOOL" -fjso "$LOGS/good.pplog"
