$TOOL --style torch --sort p99 $LOGS/good.pplog
