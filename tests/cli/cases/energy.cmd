# 9000 J in 30 s at 300 W, the rest at 80 W: 40 J in ten calls too short, 2360 J.
"$TOOL" --view energy "$LOGS/joules/300.pplog"
