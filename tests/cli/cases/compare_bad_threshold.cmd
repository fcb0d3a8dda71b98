for threshold in 5 five% p95=5% decode.p99 =5% decode.p99=5 2000% -1% ""; do
  "$TOOL" compare --threshold "$threshold" "$LOGS/good.pplog" "$LOGS/good.pplog"
  echo $?
done
