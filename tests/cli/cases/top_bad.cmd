$TOOL --top many $LOGS/good.pplog
