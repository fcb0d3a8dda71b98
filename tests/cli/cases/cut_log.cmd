# All of the last block but its end is there: the totals are not.
size=$(wc -c <"$LOGS/good.pplog")
head -c $((size - 10)) "$LOGS/good.pplog" >cut.pplog
"$TOOL" --view overview cut.pplog
