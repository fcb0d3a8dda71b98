PPROF_OUTPUT=x.pplog "$TOOL" run --library "$RUN_LIBRARY" --logs logs "$RUN_CHILD" hello
