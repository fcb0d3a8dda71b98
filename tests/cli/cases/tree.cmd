"$TOOL" --tree "$LOGS/cpu.pplog"
echo "== flat, by self, everything that was recorded"
"$TOOL" --flat --sort self --columns calls,self,items/s,user,sys,run-queue "$LOGS/cpu.pplog" | head -n 6
echo "== parts of it"
"$TOOL" --depth 1 --columns calls,max "$LOGS/cpu.pplog" | head -n 5
"$TOOL" --filter 'mod*' -f csv "$LOGS/cpu.pplog"
