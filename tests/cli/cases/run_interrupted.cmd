setsid -w "$TOOL" run --library "$RUN_LIBRARY" --logs logs -f csv \
  --view overview -o out "$RUN_CHILD" record interrupt-group 2>/dev/null
echo "exit $?"
cut -d, -f1-3 out
