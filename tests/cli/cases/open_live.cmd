# What is open in a running process, by its number and by its log.
mkfifo in
PPROF_SET=output=live.pplog "$RUN_CHILD" start open touch=ready cat stop <in &
pid=$!
exec 3>in
while [ ! -e ready ]; do :; done
rows() {
  sed -n -E 's/^\[(".*)/\1/
    s/,[0-9]+,"(open|cross-thread|nothing open)"/,TID,"\1"/
    s/,[0-9]+,"20[0-9T:.-]*Z"/,NS,TIME/p'
}
"$TOOL" info --live -f json $pid | rows
"$TOOL" info --live -f json live.pplog.part | rows
"$TOOL" info --live $pid | grep -c "process $pid on .*start open touch=ready"
"$TOOL" recover --open-ranges live.pplog.part 2>&1 | sed "s/process $pid/process PID/"
exec 3>&-
wait $pid
echo "child $?"
"$TOOL" info --live $pid 2>&1 | sed "s/process $pid/process PID/"
"$TOOL" info --live live.pplog.part
echo "exit $?"
"$TOOL" info --live 1x
echo "exit $?"
