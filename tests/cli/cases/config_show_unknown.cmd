PPROF_OUTPTU=a PPROF_ZZZ=b PPROF_PATH=c PPROF_DUCKDB=e PPROF_PYTHON=g PPROF_ROCPROFILER_PATH=f PPROF_OUTPUT=d.pplog "$TOOL" config show | grep ^output
# A program that records says so once, to those who want warnings.
PPROF_OUTPTU=a PPROF_LOG_LEVEL=warn "$TOOL" run --library "$RUN_LIBRARY" --logs logs -o tables "$RUN_CHILD" record stop record stop 2>err
grep -c "warn: unknown variable 'PPROF_OUTPTU' (did you mean 'PPROF_OUTPUT'?)" err
