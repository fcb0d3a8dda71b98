"$TOOL" --time-unit us --view overview "$LOGS/good.pplog"
