# SPDX-License-Identifier: Apache-2.0
#
# Prints a Chrome trace of autocorrelated durations: three stages, called
# `calls` times (250). Sets of -v: seed (1), calls, decode and detect (factors
# on their durations), names ("decode,detect,classify").
function uniform() {
  state = (state * 16807) % 2147483647
  return state / 2147483647
}
function normal(i, sum) {
  sum = 0
  for (i = 0; i < 12; i++) sum += uniform()
  return sum - 6
}
function call(name, ns) {
  printf "%s{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"user_annotation\",", comma,
         name
  printf "\"pid\":1,\"tid\":1,\"ts\":%.3f,\"dur\":%.3f}", at / 1000, ns / 1000
  comma = ",\n"
  at += ns + 1000
}
BEGIN {
  state = seed ? seed : 1
  if (!calls) calls = 250
  if (!decode) decode = 1
  if (!detect) detect = 1
  split(names ? names : "decode,detect,classify", name, ",")
  for (i = 0; i < 100; i++) uniform()
  print "{\"traceEvents\":["
  for (i = 0; i < calls; i++) {
    for (k = 1; k <= 3; k++) noise[k] = 0.5 * noise[k] + 0.866 * normal()
    first = i == 0 ? 3 : 1
    call(name[1], int(first * decode * (2000000 + 60000 * noise[1])))
    call(name[2], int(first * detect * (5000000 + 200000 * noise[2])))
    call(name[3], int(first * (1000000 + 80000 * noise[3])))
  }
  print "]}"
}
