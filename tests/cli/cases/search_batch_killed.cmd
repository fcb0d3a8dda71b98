# What a killed command left in memory becomes a log, and no spool stays.
"$TOOL" search-batch --logs kept --to 1 -o out -- "$RUN_CHILD" record die {batch}
ls kept | sed "s/1\\..*\\.pplog/1.LOG/"
"$TOOL" -f csv --view userdefined kept/* | cut -d, -f1-3
