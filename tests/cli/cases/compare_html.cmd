"$TOOL" compare --force --fail-on none --html page.html -o table.txt "$LOGS/good.pplog" "$LOGS/good.pplog"; tail -n 1 page.html; "$TOOL" compare --html page.html "$LOGS/good.pplog" "$LOGS/good.pplog"
