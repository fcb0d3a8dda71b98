"$TOOL" "$LOGS/good.pplog" missing.pplog
