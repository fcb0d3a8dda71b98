"$TOOL" frobnicate
