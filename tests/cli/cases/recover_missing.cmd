"$TOOL" recover missing.pplog.part
