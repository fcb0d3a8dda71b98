"$TOOL" -f csv --view overview "$LOGS/good.pplog" "$LOGS/lossy.pplog"
