"$TOOL" compare --force --warmup 0 "$LOGS/good.pplog" "$LOGS/elsewhere.pplog"
