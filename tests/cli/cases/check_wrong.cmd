"$TOOL" check "$LOGS/wrong.pplog"
