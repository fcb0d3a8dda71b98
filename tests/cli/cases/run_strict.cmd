"$TOOL" run --library "$RUN_LIBRARY" --logs logs --strict -o /dev/null "$RUN_CHILD" record stop 2>/dev/null
