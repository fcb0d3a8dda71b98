"$TOOL" help run
