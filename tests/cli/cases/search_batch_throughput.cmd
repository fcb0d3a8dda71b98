# Ten ranges a process: nine batches after the first one.
"$TOOL" search-batch --stage stage --to 4 -f json -- "$RUN_CHILD" record batch={batch} stop >out
echo $?
tr -d '\n' <out | sed -E 's/,[0-9]{3,},/,NS,/g; s/[0-9]+\.[0-9]+/NUMBER/g'
