cp $LOGS/good.pplog a.pplog
head -c $(($(wc -c <a.pplog) / 2)) a.pplog >b.pplog
$TOOL merge a.pplog b.pplog -o m.pplog
code=$?
ls
exit $code
