head -c $(($(wc -c <$LOGS/good.pplog) * 9 / 10)) $LOGS/good.pplog >a.pplog
$TOOL merge a.pplog -o m.pplog 2>err.txt
code=$?
sed -E "s/@0x[0-9a-f]+/@0xN/; s/[0-9]+ bytes/N bytes/" err.txt
$TOOL check m.pplog 2>/dev/null
exit $code
