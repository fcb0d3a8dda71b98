# The check must be able to fail: another run's report.
"$TOOL" -f json "$LOGS/good.pplog" | sed s/45000000/45000001/g >report.json
"$TOOL" trace -o trace.json "$LOGS/good.pplog" 2>path.txt
python3 "$TESTS/demo_recompute.py" report.json trace.json
