"$TOOL" info missing.pplog
