# The command keeps 21; what varies is left out.
"$TOOL" search-batch -f csv -- sh -c "echo output {batch}; test {batch} -le 21" |
  cut -d, -f1,2,4-
