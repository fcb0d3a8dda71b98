"$TOOL" merge "$LOGS"/cut.0003.pplog "$LOGS"/cut.0001.pplog -o a.pplog
"$TOOL" merge "$LOGS"/cut.0002.pplog a.pplog "$LOGS"/cut.0003.pplog -o b.pplog
"$TOOL" info b.pplog | grep 'state\|events'
"$TOOL" summary "$LOGS/good.pplog" >good
"$TOOL" summary b.pplog | cmp - good && echo same
