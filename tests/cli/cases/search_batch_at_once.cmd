"$TOOL" search-batch --from 8 -- sh -c "exit 3; {batch}" | grep batch
"$TOOL" search-batch --from 8 -o out -- sh -c "exit 3; {batch}"
