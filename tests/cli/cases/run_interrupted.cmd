setsid -w "$TOOL" run --library "$RUN_LIBRARY" --logs logs -f csv \
  --view overview -o out "$RUN_CHILD" record interrupt-group 2>errors
echo "exit $?"
[ -e out ] || cat errors
cut -d, -f1-3 out
