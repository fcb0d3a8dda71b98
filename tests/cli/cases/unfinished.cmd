cp "$LOGS/good.pplog" run.pplog.part
"$TOOL" run.pplog.part >tables.txt || exit
"$TOOL" --strict run.pplog.part >tables.txt
