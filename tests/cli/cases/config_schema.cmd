"$TOOL" config schema | head -3
