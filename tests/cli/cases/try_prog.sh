# try_prog.sh DETECT: a program of three stages that records itself; each run
# has calls of its own. DETECT is a factor on the time of `detect`.
n=$(cat count 2>/dev/null || echo 100)
echo $((n + 1)) >count
awk -v seed=$n -v calls=60 -v detect="$1" -f "$TESTS/cases/make_trace.awk" >run.json
"$TOOL" import run.json -o "${PPROF_OUTPUT%%%h*}log.pplog" 2>/dev/null
