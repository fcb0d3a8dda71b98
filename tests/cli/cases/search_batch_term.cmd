# A cancelled job ends the search, whatever the command makes of the signal.
"$TOOL" search-batch -o out -- sh -c 'test {batch} -lt 2 || exec "$RUN_CHILD" interrupt-parent'
echo "exit $?"
grep "batch before" out
