# The rule says 20 %; more silences it. What is no such threshold is refused.
"$TOOL" "$LOGS/good.pplog" | grep -c host-bound
"$TOOL" --threshold host-bound=99%,uneven=5 "$LOGS/good.pplog" | grep -c host-bound
"$TOOL" --threshold host-bound=99 -f json "$LOGS/good.pplog" | grep -c '"id":"host-bound"'
for wrong in hostbound=3 host-bound host-bound= host-bound=x host-bound=-1 host-bound=3us nothing=1 ""; do
  "$TOOL" --threshold "$wrong" "$LOGS/good.pplog"; echo $?
done 2>&1
