"$TOOL" config schema x
