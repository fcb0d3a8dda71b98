"$TOOL" help trace
