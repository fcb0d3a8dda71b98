python3 "$TESTS/signal_twice.py" "$TOOL" run --library "$RUN_LIBRARY" \
  --logs logs "$RUN_CHILD" record stop interrupt-parent
