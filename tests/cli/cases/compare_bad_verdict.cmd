"$TOOL" compare --fail-on slowr "$LOGS/good.pplog" "$LOGS/good.pplog"
