"$TOOL"
