# What a running process does, once, as a table and as a line; by its name, too.
cp "$RUN_CHILD" ./looped
PPROF_SET="log=false;report=stderr" ./looped start touch=ready steps-until=enough stop 2>/dev/null &
pid=$!
while [ ! -e ready ]; do :; done
until "$TOOL" top --once --every 200ms $pid >out && grep -q "^stage " out; do :; done
grep -E -c "^$pid  recording  looped start" out
grep -E -c "^  steps [0-9]+\.[0-9]/s  items [0-9.]+/s  events [0-9]+/s  lost 0  late 0" out
grep -E -o "^stage +host +[0-9]" out | tr -s " 0-9" " N"
# Until it has seen a step, too.
until "$TOOL" top --once --json --every 200ms looped >line && python3 -c 'import json, sys
process = json.loads(open("line").read())
stage = [one for one in process["stages"] if one["name"] == "stage"]
sys.exit(not (process["schema"] == "pprof.top/1" and stage and process["steps"] > 0 and
              process["items"] > 0 and stage[0]["timed"] == "host" and stage[0]["calls"] > 0 and
              stage[0]["rate"] > 0 and stage[0]["p99_ns"] >= stage[0]["p50_ns"] > 0))'
do :; done
touch enough
wait $pid
"$TOOL" top --once $pid 2>&1 | sed "s/$pid/PID/"
"$TOOL" top --once --every 1h looped
echo "exit $?"
"$TOOL" top --once no_such_program
