# What the command has started ends with it.
"$TOOL" search-batch -f csv --try-timeout 3s --to 2 -- sh -c 'test {batch} -lt 2 || { tail -f /dev/null & echo $! >pid; wait; }' |
  cut -d, -f1,2
while kill -0 "$(cat pid)" 2>/dev/null; do :; done
"$TOOL" search-batch --try-timeout 3 -- true {batch}
