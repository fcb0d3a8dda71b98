echo nothing >run.pplog
"$TOOL" trace run.pplog
code=$?
ls
exit $code
