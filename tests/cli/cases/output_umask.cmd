umask 027
"$TOOL" -o table "$LOGS/good.pplog"
"$TOOL" trace -o trace.json "$LOGS/good.pplog"
"$TOOL" trace -o trace.json.gz "$LOGS/good.pplog"
"$TOOL" import -o log.pplog trace.json
"$TOOL" merge -o merged.pplog "$LOGS/good.pplog"
# Without --output it is the owner's alone.
cp "$LOGS/good.pplog" own.pplog
"$TOOL" trace own.pplog
stat -c '%a %n' table trace.json trace.json.gz log.pplog merged.pplog own.trace*
