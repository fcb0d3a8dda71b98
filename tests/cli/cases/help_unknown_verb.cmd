"$TOOL" help sumary
