echo in | "$TOOL" run --library "$RUN_LIBRARY" --logs logs "$RUN_CHILD" cat 2>/dev/null
