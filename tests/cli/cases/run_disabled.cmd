PPROF_ENABLE=0 "$TOOL" run --library "$RUN_LIBRARY" --logs logs "$RUN_CHILD" hello
