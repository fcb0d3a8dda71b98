$TOOL --sort p98 $LOGS/good.pplog
