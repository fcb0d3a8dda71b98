size=$(wc -c <"$LOGS/lossy.pplog")
head -c $((size - 10)) "$LOGS/lossy.pplog" >cut.pplog
"$TOOL" --strict cut.pplog >tables.txt
