"$TOOL" --version
