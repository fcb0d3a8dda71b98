"$TOOL" compare --warmup -1 "$LOGS/good.pplog" "$LOGS/good.pplog"
