"$TOOL" summary "$LOGS/good.pplog" >good
"$TOOL" summary "$LOGS"/cut.0003.pplog "$LOGS"/cut.000[12].pplog >cut
cmp good cut && echo same
# Its name stands for its segments.
"$TOOL" summary "$LOGS/cut.pplog" | cmp - good && echo same
"$TOOL" trace "$LOGS/cut.pplog" -o trace.json 2>&1
grep -c '"name":"detect"' trace.json
