# A byte of the events; where it lies depends on the compressor.
cp "$LOGS/good.pplog" bad.pplog
size=$(wc -c <bad.pplog)
printf "\377" | dd of=bad.pplog bs=1 seek=$((size * 6 / 10)) conv=notrunc 2>dd.txt
"$TOOL" check bad.pplog >out.txt 2>err.txt
code=$?
cat out.txt err.txt | sed -E "s/(at byte|, the first at byte) [0-9]+/\1 N/; s/[0-9]+ bytes/N bytes/; s/@0x[0-9a-f]+/@0xN/"
exit $code
