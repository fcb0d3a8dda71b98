"$TOOL" run -h
