"$TOOL" --strict --view device -f csv "$LOGS/lossy.pplog"
