$TOOL --style torch --view kernel $LOGS/good.pplog
