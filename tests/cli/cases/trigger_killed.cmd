# The process ends while somebody waits for its window.
export XDG_RUNTIME_DIR="$PWD"
export PPROF_SET="output=all.pplog;spool=$PWD;capture={on_demand: true}"
"$RUN_CHILD" start touch=ready2 steps-until=end die >child.out 2>&1 &
pid=$!
while [ ! -e ready2 ]; do :; done
"$TOOL" trigger --pid $pid --seconds 1000 >out 2>err &
tool=$!
while [ ! -s err ]; do :; done
: >end
wait $tool
echo "exit $?"
sed "s/process $pid/process PID/" err
{ wait $pid; } 2>/dev/null || true
