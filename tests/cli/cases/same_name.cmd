# Two runs under one name, ended by a return from main: two logs, and the second
# says which name was taken.
export PPROF_OUTPUT=same.pplog
"$RUN_CHILD" record
"$RUN_CHILD" record
PPROF_LOG_LEVEL=warn "$RUN_CHILD" record
ls
"$TOOL" info same.pplog | grep name_taken
"$TOOL" info same.2.pplog | grep name_taken
