"$TOOL" search-batch -f csv --sequential --from 2 --to 9 -- sh -c "test {batch} -le 4 || kill -9 \$\$" |
  cut -d, -f1,2
