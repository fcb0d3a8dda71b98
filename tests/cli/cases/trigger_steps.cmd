# A window of two steps of a running process, into a log of its own.
export XDG_RUNTIME_DIR="$PWD"
export PPROF_SET="output=all.pplog;capture={on_demand: true}"
"$RUN_CHILD" start touch=ready steps-until=end stop >child.out &
pid=$!
while [ ! -e ready ]; do :; done
"$TOOL" trigger --pid $pid --steps 2 -o own.pplog
echo "exit $?"
"$TOOL" trigger --pid $pid --steps 2 -o own.pplog
echo "exit $?"
"$TOOL" trigger --pid $pid --steps 1
echo "exit $?"
: >end
wait $pid
echo "child $?"
"$TOOL" --view overview -f csv own.pplog | grep ProfileStep | cut -d, -f 1-3
"$TOOL" --view overview -f csv all.pplog | grep ProfileStep | cut -d, -f 1-3
