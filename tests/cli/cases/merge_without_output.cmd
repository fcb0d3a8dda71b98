$TOOL merge $LOGS/good.pplog
