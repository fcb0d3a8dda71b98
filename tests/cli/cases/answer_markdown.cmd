"$TOOL" -f markdown "$LOGS/good.pplog"
# No locale without UTF-8 gets other characters.
LC_ALL=C "$TOOL" -f markdown "$LOGS/good.pplog" | LC_ALL=C grep -c '[^ -~]'
true
