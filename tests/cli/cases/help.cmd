"$TOOL" help -v
