"$TOOL" config
