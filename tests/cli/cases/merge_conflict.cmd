# Two whole logs of one run: which is the run's is not known.
cp $LOGS/good.pplog a.pplog
head -c $(($(wc -c <a.pplog) / 2)) a.pplog >b.pplog.part
$TOOL recover b.pplog.part >/dev/null 2>&1
$TOOL merge a.pplog b.pplog -o m.pplog
code=$?
ls
exit $code
