# A log whose writer died before its totals were written.
size=$(wc -c <"$LOGS/good.pplog")
head -c $((size - 10)) "$LOGS/good.pplog" >run.pplog.part
"$TOOL" recover run.pplog.part
code=$?
ls
"$TOOL" -f csv --view overview run.pplog
exit $code
