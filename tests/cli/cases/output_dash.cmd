"$TOOL" -f csv --view device -o - "$LOGS/good.pplog"
