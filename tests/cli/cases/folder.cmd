"$TOOL" "$LOGS"
