# After kill -9, by the number that the process had: what it was in.
PPROF_SET="output=dead.pplog;drain_interval=100us" "$RUN_CHILD" start begin=held end \
  begin=held die 2>/dev/null &
pid=$!
{ wait $pid; } 2>/dev/null
"$TOOL" stuck --least 0s $pid | sed -n -E 's/^(run_child) +(open) +(held) .*/\1 \2 \3/p; s/^(dead, last known alive).*/\1/p'
ls
"$TOOL" recover dead.pplog.part >/dev/null
"$TOOL" stuck $pid 2>&1 | sed "s/process $pid/process PID/"
