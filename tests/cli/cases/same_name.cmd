# Two runs under one name, ended by a return from main: two logs, and the second
# says which name was taken. A reader of an earlier one gets the name of the latest.
export PPROF_OUTPUT=same.pplog
"$RUN_CHILD" record
"$RUN_CHILD" record
PPROF_LOG_LEVEL=warn "$RUN_CHILD" record
ls
"$TOOL" info same.pplog | grep name_taken
"$TOOL" info same.2.pplog | grep name_taken
echo "the first" >&2
"$TOOL" same.pplog >log
rm same.1.pplog
"$TOOL" html -o page.html "$PWD/same.pplog"
echo "the latest" >&2
"$TOOL" same.2.pplog >log
"$TOOL" same.pplog same.2.pplog >log
"$TOOL" . >log
mv same.2.pplog same.2.pplog.part
echo "while the latest is written" >&2
"$TOOL" same.pplog >log
