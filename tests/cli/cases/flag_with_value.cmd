"$TOOL" --strict=1 "$LOGS/good.pplog"
