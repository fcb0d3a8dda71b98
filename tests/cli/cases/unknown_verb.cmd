"$TOOL" sumary
