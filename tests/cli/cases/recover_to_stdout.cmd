"$TOOL" recover -o - "$LOGS/good.pplog"
