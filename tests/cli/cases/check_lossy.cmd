"$TOOL" check "$LOGS/lossy.pplog"
