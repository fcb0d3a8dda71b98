# The date of the run, and how old it is from an hour on.
line() { SOURCE_DATE_EPOCH=$1 "$TOOL" "$LOGS/good.pplog" | sed -n '/^$/{n;p;q}'; }
line 1700003600
line 1700003601
line 1700172799
line 1700172801
line 1800000000
line not-a-number | grep -c "2023-11-14 22:13 ([0-9]* days ago) "
line 1600000000
TZ=Asia/Kolkata line 1700000000
