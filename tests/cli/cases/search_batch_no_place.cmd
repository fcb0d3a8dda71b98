"$TOOL" search-batch -- true 4
