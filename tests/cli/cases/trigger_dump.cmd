# What the flight recorder of a running process holds, twice.
export XDG_RUNTIME_DIR="$PWD"
export PPROF_SET="log=false;flight_recorder={output: flight.pplog, after: 1ms}"
"$RUN_CHILD" start touch=ready steps-until=end stop >child.out &
pid=$!
while [ ! -e ready ]; do :; done
"$TOOL" trigger --pid $pid
echo "exit $?"
"$TOOL" trigger --pid $pid -o 'own dump.pplog'
echo "exit $?"
"$TOOL" trigger --pid $pid --seconds 1
echo "exit $?"
: >end
wait $pid
echo "child $?"
for log in flight.pplog 'own dump.pplog'; do
  "$TOOL" check "$log" >checked || cat checked
done
