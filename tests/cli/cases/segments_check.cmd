"$TOOL" check "$LOGS"/cut.pplog 2>&1 | sed "s|$LOGS/||" | grep 'events\|good\|segments'
