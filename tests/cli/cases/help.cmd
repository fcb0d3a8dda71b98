"$TOOL" --help
