# Thirty batches, but for the last size: its command says that all is well.
"$TOOL" search-batch --stage stage --to 4 -f csv -- sh -c 'test {batch} -lt 4 && exec "$RUN_CHILD" record mark mark stop; exec "$RUN_CHILD" record stop' |
  cut -d, -f1,2,4
# So many are asked for.
"$TOOL" search-batch --stage stage --to 4 --batches 11 -f csv -- "$RUN_CHILD" record {batch} stop |
  cut -d, -f1,2,4
"$TOOL" search-batch --batches x -- true {batch}
