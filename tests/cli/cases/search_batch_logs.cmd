"$TOOL" search-batch --logs kept --to 1 -o out -- "$RUN_CHILD" record {batch} stop
ls kept | sed "s/1\\..*\\.pplog/1.LOG/"
grep -c "Throughput unknown" out
"$TOOL" search-batch --logs kept --to 1 -- true {batch}
