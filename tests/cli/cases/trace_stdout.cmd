"$TOOL" trace -o - "$LOGS/good.pplog" | python3 -m json.tool >/dev/null
