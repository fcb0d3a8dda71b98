# A report of a log that was read before reads its figures beside it. A file
# that is not written again was used: what is not used is made again.
awk 'BEGIN {
  print "["
  for (i = 0; i < 240000; i++) {
    seed = (seed * 16807 + 11) % 2147483647
    printf "%s{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"name\":\"stage%d\",", \
      i ? "," : "", 1 + i % 2, seed % 7
    printf "\"ts\":%d.%03d,\"dur\":%d.%03d}\n", 10 * i, seed % 1000, \
      1 + seed % 15, seed / 1000 % 1000
  }
  print "]"
}' >made.json
"$TOOL" import -o made.pplog made.json 2>err.txt || cat err.txt
number() { stat -c %i made.pplog.sum; }
# look WHAT OPTION...: the same report as without sums; whether they stay.
look() {
  what=$1
  shift
  before=$(number 2>none.txt)
  "$TOOL" "$@" --no-sums made.pplog >want.txt 2>want_err.txt
  "$TOOL" "$@" made.pplog >got.txt 2>got_err.txt
  cmp want.txt got.txt
  cmp want_err.txt got_err.txt
  now=$(number 2>none.txt)
  test "$now" = "$before" && echo "$what: stays" || echo "$what: made"
}
"$TOOL" summary --no-sums made.pplog >got.txt
ls
look first summary
look again summary
look json summary -f json
look tree summary --tree
look "first again" summary
look limits whatif
look iteration summary --iteration stage3
"$TOOL" check made.pplog | tail -1

# Another program file, and back.
cp "$TOOL" other
./other made.pplog >got.txt 2>got_err.txt
"$TOOL" check made.pplog | tail -1
look "after another program" summary

# Damaged, cut, empty, of another log.
printf '\377' | dd of=made.pplog.sum bs=1 seek=5000 conv=notrunc 2>none.txt
"$TOOL" check made.pplog >got.txt
echo "check: $?"
tail -1 got.txt
look damaged summary
head -c 9000 made.pplog.sum >cut
cp cut made.pplog.sum
look cut summary
cp made.pplog.sum good.sum
cp made.pplog copy.pplog
cp made.pplog.sum copy.pplog.sum
"$TOOL" check --no-sums copy.pplog | tail -1
"$TOOL" check copy.pplog | tail -1
chmod 666 made.pplog.sum
look "anybody's" summary
rm made.pplog.sum
ln -s good.sum made.pplog.sum
look "a link" summary
rm made.pplog.sum
mkdir made.pplog.sum
look "a folder" summary
rmdir made.pplog.sum
mkdir made.pplog.sum.part
look deleted summary
rmdir made.pplog.sum.part

# One run in two logs.
"$TOOL" summary --no-sums made.pplog copy.pplog >want.txt 2>want_err.txt
"$TOOL" summary made.pplog copy.pplog >got.txt 2>got_err.txt
cmp want.txt got.txt
cmp want_err.txt got_err.txt
cat made.pplog "$LOGS/good.pplog" >both.pplog
"$TOOL" summary "$LOGS/lossy.pplog" both.pplog >got.txt 2>got_err.txt
"$TOOL" summary --no-sums "$LOGS/good.pplog" both.pplog >want.txt 2>want_err.txt
"$TOOL" summary "$LOGS/good.pplog" both.pplog >got.txt 2>got_err.txt
cmp want.txt got.txt
cmp want_err.txt got_err.txt
look "two logs" summary "$LOGS/good.pplog"
"$TOOL" compare --no-sums "$LOGS/good.pplog" made.pplog >want.txt 2>&1
"$TOOL" compare "$LOGS/good.pplog" made.pplog >got.txt 2>&1
"$TOOL" compare "$LOGS/good.pplog" made.pplog >once_more.txt 2>&1
cmp want.txt got.txt
cmp want.txt once_more.txt

# A change that keeps length and end.
printf '\377' | dd of=made.pplog bs=1 seek=700000 conv=notrunc 2>none.txt
look "changed log" summary
grep -c unreadable got_err.txt
rm want* got* none.txt once_more.txt cut other
ls
