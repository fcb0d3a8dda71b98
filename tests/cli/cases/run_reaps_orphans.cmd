# Where namespaces may be made the tool is process number 1 and inherits what
# the command leaves; elsewhere init does.
first=
if unshare -Urpf --mount-proc true 2>/dev/null; then
  first="unshare -Urpf --mount-proc"
fi
$first "$TOOL" run --library "$RUN_LIBRARY" --logs logs "$RUN_CHILD" \
  orphan record stop exit=3 2>tables
echo "exit $?"
grep -c '^stage ' tables
