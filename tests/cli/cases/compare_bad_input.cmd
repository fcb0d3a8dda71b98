: >empty.json
"$TOOL" compare "$LOGS/good.pplog" empty.json
