"$TOOL" html - <"$LOGS/good.pplog"
