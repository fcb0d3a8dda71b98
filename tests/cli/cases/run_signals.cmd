"$TOOL" run --library "$RUN_LIBRARY" --logs logs "$RUN_CHILD" signals 2>/dev/null
