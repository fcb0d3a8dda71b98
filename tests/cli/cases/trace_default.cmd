cp "$LOGS/good.pplog" run.pplog
"$TOOL" trace run.pplog && ls
python3 -m json.tool run.trace.json >/dev/null
