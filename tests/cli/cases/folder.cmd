"$TOOL" compare "$LOGS" "$LOGS"
