"$TOOL" --formt json "$LOGS/good.pplog"
