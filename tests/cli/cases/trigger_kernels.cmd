# Kernels of a running process, which has no CUDA.
export XDG_RUNTIME_DIR="$PWD"
export PPROF_SET="output=all.pplog"
unset PPROF_CUPTI_PATH
"$RUN_CHILD" start touch=ready steps-until=end stop >child.out &
pid=$!
while [ ! -e ready ]; do :; done
"$TOOL" trigger --pid $pid --kernels 200ms
echo "exit $?"
"$TOOL" trigger --pid $pid --kernels 200
echo "exit $?"
"$TOOL" trigger --pid $pid --kernels 1s --steps 3
echo "exit $?"
: >end
wait $pid
echo "child $?"
