PPROF_OUTPUT=x.pplog "$TOOL" search-batch -- true {batch}
