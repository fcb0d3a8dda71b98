"$TOOL" "$LOGS/good.pplog" >plain
"$TOOL" - <"$LOGS/good.pplog" | cmp - plain && echo same
cat "$LOGS/good.pplog" | "$TOOL" - | cmp - plain && echo same
gzip -c "$LOGS/good.pplog" >good.pplog.gz
"$TOOL" good.pplog.gz | cmp - plain && echo same
"$TOOL" - <good.pplog.gz | cmp - plain && echo same
"$TOOL" check good.pplog.gz - <"$LOGS/lossy.pplog"
"$TOOL" compare "$LOGS/good.pplog" - <good.pplog.gz | head -1
mkdir logs && cp good.pplog.gz logs
"$TOOL" logs | cmp - plain && echo same
"$TOOL" trace good.pplog.gz && ls good.*
"$TOOL" trace - <good.pplog.gz
echo "exits $?"
echo "== damaged, or no log"
head -c 300 good.pplog.gz >cut.pplog.gz
"$TOOL" cut.pplog.gz >/dev/null
echo "exits $?"
echo text | gzip >text.pplog.gz
"$TOOL" text.pplog.gz
echo "exits $?"
head -c 12 good.pplog.gz >short.pplog.gz
"$TOOL" short.pplog.gz
echo "exits $?"
echo text | "$TOOL" -
echo "exits $?"
"$TOOL" - </dev/null
