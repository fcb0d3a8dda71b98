"$TOOL" check "$LOGS/late.pplog"
