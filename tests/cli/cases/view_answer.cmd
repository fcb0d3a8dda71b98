"$TOOL" --view answer "$LOGS/good.pplog"
