"$TOOL" missing.pplog
