"$TOOL" --view device -f csv "$LOGS/lossy.pplog"
