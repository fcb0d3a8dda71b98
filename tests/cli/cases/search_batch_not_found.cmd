"$TOOL" search-batch -- ./no_such_command {batch}
