"$TOOL" -o /dev/full "$LOGS/good.pplog"
