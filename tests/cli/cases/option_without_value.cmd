"$TOOL" "$LOGS/good.pplog" --format
