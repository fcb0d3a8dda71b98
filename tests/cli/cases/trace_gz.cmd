"$TOOL" trace -o run.json.gz "$LOGS/good.pplog"
gzip -dc run.json.gz | python3 -m json.tool >/dev/null
