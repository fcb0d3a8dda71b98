("$TOOL" "$LOGS/good.pplog"; echo "exit $?" >code.txt) | true
cat code.txt
