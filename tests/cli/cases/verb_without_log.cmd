"$TOOL" summary
