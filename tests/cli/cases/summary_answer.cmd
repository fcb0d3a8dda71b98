"$TOOL" "$LOGS/good.pplog"
"$TOOL" --verbose "$LOGS/lossy.pplog" | tail -4
"$TOOL" "$LOGS/lossy.pplog" | tail -3
