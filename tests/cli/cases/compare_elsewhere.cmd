"$TOOL" compare "$LOGS/good.pplog" "$LOGS/elsewhere.pplog"
