"$TOOL" whatif --top 2 "$LOGS/good.pplog"
"$TOOL" whatif -f csv --scale detect=0 "$LOGS/lossy.pplog"
"$TOOL" whatif -f markdown --scale 'host:d*=0.5' "$LOGS/no_device.pplog"
