"$TOOL" -f json -o report.json "$LOGS/good.pplog" &&
  "$TOOL" trace -o trace.json.gz "$LOGS/good.pplog" 2>path.txt &&
  python3 "$TESTS/demo_recompute.py" report.json trace.json.gz
