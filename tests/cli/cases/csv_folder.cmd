"$TOOL" -f csv -o views/ "$LOGS/good.pplog"
ls views/answer.csv views/queue.csv
python3 -B "$TESTS/csv_files.py" views/*.csv && echo whole
"$TOOL" -f csv -o views --view queue "$LOGS/good.pplog"
"$TOOL" -f csv -o views --force --view queue,answer "$LOGS/good.pplog" && echo replaced
"$TOOL" -f csv -o tree/ --tree "$LOGS/good.pplog"
"$TOOL" -f json -o views "$LOGS/good.pplog"
