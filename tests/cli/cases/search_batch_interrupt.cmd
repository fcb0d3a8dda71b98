# Ctrl-C at batch 2.
"$TOOL" search-batch -o out -- sh -c "test {batch} -lt 2 || kill -INT \$\$"
echo "exit $?"
grep "batch before" out
