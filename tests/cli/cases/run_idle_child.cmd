"$TOOL" run --library "$RUN_LIBRARY" --logs logs -f json -o out \
  "$RUN_CHILD" record idle-child stop
grep -o '"pid"' out | wc -l
