"$TOOL" check --strict "$LOGS/lossy.pplog"
