echo mine >out.txt
"$TOOL" --force -o out.txt missing.pplog
code=$?
cat out.txt
exit $code
