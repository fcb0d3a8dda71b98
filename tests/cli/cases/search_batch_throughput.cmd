# Ten ranges a process: nine batches after the first one.
"$TOOL" search-batch --stage stage --to 4 -f json -- "$RUN_CHILD" record batch={batch} stop >out
echo $?
# Which one is the fastest is not the same in each run.
tr -d '\n' <out | sed -E 's/,[0-9]{2,},/,NS,/g; s/,[0-9]{2,},/,NS,/g; s/[0-9]+\.[0-9]+/NUMBER/g
  s/"(fastest|knee)":[0-9]+/"\1":BATCH/g; s/,"(Fastest|Knee).*/]}/'
