"$TOOL" --view ovrview "$LOGS/good.pplog"
