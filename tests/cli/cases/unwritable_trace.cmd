"$TOOL" trace -o no/such/folder/out.json "$LOGS/good.pplog"
