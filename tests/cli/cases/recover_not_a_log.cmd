echo nothing >run.pplog.part
"$TOOL" recover run.pplog.part
code=$?
cat run.pplog.part
exit $code
