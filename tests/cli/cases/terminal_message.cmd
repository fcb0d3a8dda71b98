# A message breaks at blanks, as wide as its terminal. In a file it is one line.
cp "$LOGS/cut.0003.pplog" .
python3 "$TESTS"/in_terminal.py 60 "$TOOL" check cut.0003.pplog | grep -A1 '^pprof-report'
"$TOOL" check cut.0003.pplog 2>&1 >out.txt | grep -A1 '^pprof-report'
