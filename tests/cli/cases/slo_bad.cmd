"$TOOL" --slo ttft=200ms,ttlt=3s "$LOGS/good.pplog"
