# Calls of 10 us and of 4 ms, as many of the one as of the other: the median
# is either.
make() {
  awk -v seed="$1" 'BEGIN {
    print "{\"traceEvents\": ["
    for (i = 0; i < 2000; i++) {
      seed = (seed * 1103515245 + 12345) % 2147483648
      length_us = seed < 1073741824 ? 10 : 4000
      printf "%s{\"ph\": \"X\", \"name\": \"both\", \"cat\": \"user_annotation\", ",
             i ? ",\n" : ""
      printf "\"pid\": 1, \"tid\": 1, \"ts\": %d, \"dur\": %d}", now, length_us
      now += length_us + 2
    }
    print "]}"
  }' >"$1.json"
}
make 1
make 2
"$TOOL" compare 1.json 2.json | sed -n 6p
"$TOOL" compare -f csv --fail-on none 1.json 2.json | cut -d, -f1-4,11- | sed 's/[0-9.]\{4,\}/N/g'
