for scale in detct=0.5 detect detect= =2 detect=half detect=-1 detect=1,, device:detect=2; do
  "$TOOL" whatif --scale "$scale" "$LOGS/good.pplog"
  echo $?
done
"$TOOL" whatif --by request "$LOGS/good.pplog"
echo $?
"$TOOL" whatif "$LOGS/good.pplog" "$LOGS/cpu.pplog"
echo $?
"$TOOL" whatif
echo $?
set --
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33; do
  set -- "$@" --scale detect=0.5
done
"$TOOL" whatif "$@" "$LOGS/good.pplog"
echo $?
