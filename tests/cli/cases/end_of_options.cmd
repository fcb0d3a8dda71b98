"$TOOL" -- --version
