# What numbers do not say of a run: here, that its writer died.
size=$(wc -c <"$LOGS/good.pplog")
head -c $((size - 10)) "$LOGS/good.pplog" >run.pplog.part
"$TOOL" recover run.pplog.part >out.txt 2>&1
"$TOOL" info run.pplog | grep note
"$TOOL" info -f json run.pplog | grep -o '"notes":[^]]*]'
