"$TOOL" search-batch --stage stage --to 4 --latency 1h --plot page.html -o out -- "$RUN_CHILD" record {batch} stop
grep -c "with a p99 of at most 3600000.000 ms: 4" out
grep -c "^Items/s by batch:" out
grep -c "<circle" page.html
grep -o "<td>[0-9]*<td>ok" page.html
"$TOOL" search-batch --plot page.html -- true {batch}
"$TOOL" search-batch --latency soon -- true {batch}
