"$TOOL" recover --help
