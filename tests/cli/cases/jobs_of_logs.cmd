# Several logs read by several processes give the bytes and messages of one.
size=$(wc -c <"$LOGS/good.pplog")
cp "$LOGS/good.pplog" bad.pplog
printf "\377" | dd of=bad.pplog bs=1 seek=$((size * 6 / 10)) conv=notrunc 2>dd.txt
head -c $((size * 8 / 10)) "$LOGS/good.pplog" >cut.pplog
cp "$LOGS/lossy.pplog" again.pplog
cat "$LOGS/good.pplog" "$LOGS/late.pplog" >two_runs.pplog
look() {
  what=$1
  shift
  "$TOOL" -j 1 "$@" >want.txt 2>want_err.txt
  echo "exit $?" >>want_err.txt
  for jobs in 2 3 16; do
    "$TOOL" -j $jobs "$@" >got.txt 2>got_err.txt
    echo "exit $?" >>got_err.txt
    cmp want.txt got.txt && cmp want_err.txt got_err.txt
  done
  echo "$what: $(tail -1 want_err.txt), $(($(wc -l <want_err.txt) - 1)) messages"
}
good="$LOGS/lossy.pplog $LOGS/good.pplog $LOGS/late.pplog"
look text $good
look json -f json $good
look tree --tree $good
look repeated "$LOGS/lossy.pplog" again.pplog two_runs.pplog "$LOGS/good.pplog"
look "partly repeated" "$LOGS/late.pplog" two_runs.pplog
look damaged bad.pplog $good
look cut $good cut.pplog
look missing "$LOGS/late.pplog" nothing.pplog "$LOGS/good.pplog"
