# What was open when the process died; nothing is recovered or removed.
PPROF_SET=output=dead.pplog "$RUN_CHILD" start open die 2>/dev/null
show() {
  sed -E 's/,[0-9]+,"(open|cross-thread|nothing open)"/,TID,"\1"/
    s/,[0-9]+,"20[0-9T:.-]*Z"/,NS,TIME/; s/"path":"[^"]*"/"path":SPOOL/
    s/"pid":[0-9]*/"pid":PID/; s/"(host|uuid)":"[^"]*"/"\1":TEXT/g
    s/"(start_realtime|until)_ns":[0-9]*/"\1_ns":NS/g'
}
"$TOOL" recover --open-ranges -f json dead.pplog.part | show
"$TOOL" recover --open-ranges dead.pplog.part | grep -c 'open .*inner'
"$TOOL" info --live dead.pplog.part 2>&1 | sed 's/process [0-9]*/process PID/'
ls
"$TOOL" recover dead.pplog.part >/dev/null && ls
"$TOOL" recover --open-ranges dead.pplog
echo "exit $?"
"$TOOL" recover --open-ranges dead.pplog.part
echo "exit $?"
