#!/bin/sh
# pprof/cuda.h compiles without one warning in each language version, by each
# compiler that is here, beside the real CUDA headers (where they are) and
# without them, for both default-stream modes; stream 0 is what the mode says.
# With PPROF_DISABLE it needs no library. Run in the tree's root: LIBPPROF.SO,
# then CUDA's include folder, if there is one.
set -u

library=$1
cuda=${2:-}
scratch=${TEST_TMPDIR:-$(mktemp -d)}
failed=0

# build COMPILER LANGUAGE STANDARD OPTION...
build() {
  compiler=$1 language=$2 standard=$3
  shift 3
  "$compiler" -x "$language" "-std=$standard" -Wall -Wextra -pedantic -Werror \
    -Wshadow -Wconversion -I sdk/include -I exporters/include \
    -I config/include -o "$scratch/program" tests/api/cuda_header.c "$@"
}

# check MODE STREAM_0 COMPILER LANGUAGE STANDARD OPTION...
check() {
  mode=$1 stream=$2
  shift 2
  # shellcheck disable=SC2086  # $mode is one word or none.
  build "$@" $mode "-DEXPECTED_STREAM_0=$stream" -x none "$library" &&
    LD_LIBRARY_PATH=$scratch "$scratch/program" &&
    build "$@" $mode -DPPROF_DISABLE && "$scratch/program" && return
  echo "FAILED, answer $?: $mode $*"
  failed=1
}

# check_modes COMPILER LANGUAGE STANDARD OPTION...
check_modes() {
  check "" 0 "$@"
  check -DCUDA_API_PER_THREAD_DEFAULT_STREAM 2 "$@"
  check -D__CUDA_API_PER_THREAD_DEFAULT_STREAM 2 "$@"
}

# check_orders COMPILER LANGUAGE STANDARD
check_orders() {
  check_modes "$@"
  [ -n "$cuda" ] || return
  check "" 0 "$@" -isystem "$cuda" -DCUDA_FIRST
  check "" 0 "$@" -isystem "$cuda" -DCUDA_LAST
  check -DCUDA_API_PER_THREAD_DEFAULT_STREAM 2 "$@" -isystem "$cuda" \
    -DCUDA_FIRST
}

cp "$library" "$scratch/libpprof.so.0"
for compiler in gcc clang; do
  command -v "$compiler" >/dev/null || continue
  check_orders "$compiler" c c11
done
for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || continue
  for standard in c++11 c++14 c++17 c++20; do
    check_orders "$compiler" c++ "$standard"
  done
done
exit "$failed"
