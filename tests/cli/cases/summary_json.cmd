"$TOOL" summary --format=json --view overview,model "$LOGS/good.pplog"
