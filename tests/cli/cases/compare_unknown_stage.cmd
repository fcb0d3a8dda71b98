"$TOOL" compare --threshold decod.p99=5% "$LOGS/good.pplog" "$LOGS/lossy.pplog"
