"$TOOL" run --library "$RUN_LIBRARY" --logs logs "$RUN_CHILD" interrupt-parent 2>/dev/null
echo "exit $?"
