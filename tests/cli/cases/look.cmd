echo "== ASCII where the locale has no more"
LC_ALL=C "$TOOL" "$LOGS/good.pplog" | grep -n '^made\|model'
LC_ALL='' LC_CTYPE=POSIX "$TOOL" --tree "$LOGS/good.pplog" | grep -c '`- model'
LC_ALL='' LC_CTYPE='' LANG='' "$TOOL" --tree "$LOGS/good.pplog" | grep -c '└─ model'
echo "== as wide as COLUMNS"
COLUMNS=60 "$TOOL" "$LOGS/good.pplog"
COLUMNS=60 "$TOOL" --tree "$LOGS/good.pplog" | head -n 3
COLUMNS=60 "$TOOL" --tree --wide "$LOGS/good.pplog" | head -n 3
printf '[{"ph":"X","name":"handle (/srv/app/score.py:8) in all","ts":0,"dur":9,"pid":1,"tid":1}]' >t.json
COLUMNS=66 "$TOOL" t.json | grep '^handle'
echo "== colour where it is asked for"
"$TOOL" --color always "$LOGS/good.pplog" | tr '\033' '^' | grep '\^'
COLUMNS=60 "$TOOL" --color always "$LOGS/good.pplog" | tr '\033' '^' | head -n 3
"$TOOL" --color auto "$LOGS/good.pplog" | tr '\033' '^' | grep -c '\^'
NO_COLOR=1 "$TOOL" "$LOGS/good.pplog" | tr '\033' '^' | grep -c '\^'
true
