# What runs out of memory says so, in whatever case, even in two pieces.
"$TOOL" search-batch -f csv --to 4 -- sh -c 'test {batch} -le 2 && exit; printf "CUDA Out o" >&2; printf "f Memory\n" >&2; exit 1' |
  cut -d, -f1,2
