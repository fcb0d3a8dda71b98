$TOOL --sort p99 --top 2 --view userdefined $LOGS/good.pplog
