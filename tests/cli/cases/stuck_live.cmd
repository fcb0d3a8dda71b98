# A range that has ended before and does not end now, and what lies around it,
# which has never ended: how long it usually takes is in the process's own log.
mkfifo in
PPROF_SET="output=live.pplog;drain_interval=100us" "$RUN_CHILD" start begin=outer \
  begin=held end begin=held end begin=held touch=ready cat stop <in &
pid=$!
exec 3>in
while [ ! -e ready ]; do :; done
# Until it is in the log, and ten times its longest call have passed.
code=0
until [ $code = 1 ]; do "$TOOL" stuck --least 0s $pid >out; code=$?; done
sed -n -E 's/^([a-z_]+) +(open) +([a-z]+) .*/\1 \2 \3/p' out
grep -o "thread 'run_child' is in 'held' for" out
grep -o "of 2 calls before half took at most" out
grep -E -c "held .* yes " out
"$TOOL" stuck --least 1h $pid >out
echo "exit $?"
grep -o "Nothing is open for unusually long" out
"$TOOL" stuck -f json --least 0s $pid | tr -d '\n' | grep -o '"schema":"pprof.stuck/1"'
"$TOOL" stuck --least 0s live.pplog.part >/dev/null; echo "by its log $?"
"$TOOL" stuck --usual nowhere.pplog $pid >/dev/null
echo "exit $?"
exec 3>&-
wait $pid
"$TOOL" stuck $pid 2>&1 | sed "s/process $pid/process PID/"
"$TOOL" stuck --least soon
echo "exit $?"
