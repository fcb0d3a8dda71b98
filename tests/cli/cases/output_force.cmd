echo mine >out.csv
"$TOOL" -f csv --view overview -o out.csv --force "$LOGS/good.pplog"
code=$?
cat out.csv
exit $code
