"$TOOL" summary --view cpu "$LOGS/cpu.pplog" | head -n 8
"$TOOL" summary --view cpu --format csv "$LOGS/cpu.pplog"
"$TOOL" summary --view cpu "$LOGS/good.pplog" | head -n 1
"$TOOL" summary --style paddle "$LOGS/good.pplog" | grep -c 'CPU Summary'
"$TOOL" summary --style paddle "$LOGS/cpu.pplog" | grep -c 'CPU Summary'
