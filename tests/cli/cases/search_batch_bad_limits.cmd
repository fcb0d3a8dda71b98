"$TOOL" search-batch --from 9 --to 3 -- true {batch}
"$TOOL" search-batch --from 0 -- true {batch}
