"$TOOL" --strict --view device -f csv "$LOGS/good.pplog"
