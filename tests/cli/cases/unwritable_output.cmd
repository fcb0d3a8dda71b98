"$TOOL" -o no/such/folder/out.txt "$LOGS/good.pplog"
