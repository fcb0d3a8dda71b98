cp "$LOGS/good.pplog" run.pplog
"$TOOL" trace run.pplog && ls
gzip -dc run.trace.json.gz | python3 -m json.tool >/dev/null
