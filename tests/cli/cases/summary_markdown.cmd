"$TOOL" -f markdown --view overview "$LOGS/good.pplog"
