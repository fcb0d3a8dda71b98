"$TOOL" run --library "$RUN_LIBRARY" --logs logs "$RUN_CHILD" env=NVTX_INJECTION64_PATH env=PPROF_CONFIG env=PPROF_OUTPUT 2>/dev/null | sed "s|$PWD|HERE|g"
