#!/bin/sh
# What sdk/backends/cupti_abi.h declares of CUPTI is what CUPTI's own headers say, of
# each version of each record that they have: a library writes its newest.
# Run in the tree's root: the folders of CUPTI's and CUDA's headers; without one
# nothing is checked, and the test says so.
set -u

folder=${1:-}
if [ ! -e "$folder/cupti_activity.h" ]; then
  echo "no headers of CUPTI: nothing is checked"
  exit 0
fi
failed=0
checked=0

# versions NAME: of the records called so, the newest last.
versions() {
  cat "$folder"/cupti_activity*.h |
    sed -n "s/^} \(CUpti_Activity$1[0-9]*\);.*/\1/p" | sort -V
}

# has_node RECORD: whether it says of which node of a graph it is.
has_node() {
  cat "$folder"/cupti_activity*.h |
    awk -v "end=} $1;" '/^typedef struct/ { body = "" } { body = body $0 }
      index($0, end) == 1 { exit !(body ~ /graphNodeId/) }'
}

# check KERNEL MEMCPY MEMCPY2 MEMSET [MEMORY]
check() {
  checked=$((checked + 1))
  nodes=-DHAS_NODES
  for record in "$1" "$2" "$3" "$4"; do has_node "$record" || nodes=; done
  # shellcheck disable=SC2086
  gcc -std=c11 -fsyntax-only -Isdk/include -iquotesdk/src \
    -isystem "$folder" ${CUPTI_MORE:+-isystem "$CUPTI_MORE"} \
    "-DKERNEL_TYPE=$1" "-DMEMCPY_TYPE=$2" "-DMEMCPY2_TYPE=$3" \
    "-DMEMSET_TYPE=$4" "-DMEMORY_TYPE=${5:-$memory}" $nodes tests/kernels/cupti_layout.c && return
  echo "FAILED: $*"
  failed=1
}

newest() {
  versions "$1" | tail -1
}

kernel=$(newest Kernel) copy=$(newest Memcpy)
between=$(newest MemcpyPtoP) set=$(newest Memset) memory=$(newest Memory)
for each in $(versions Kernel); do
  case $each in
    # Of CUDA 5 and before.
    CUpti_ActivityKernel | CUpti_ActivityKernel2) ;;
    *) check "$each" "$copy" "$between" "$set" ;;
  esac
done
for each in $(versions Memcpy); do
  check "$kernel" "$each" "$between" "$set"
done
for each in $(versions MemcpyPtoP); do
  check "$kernel" "$copy" "$each" "$set"
done
for each in $(versions Memset); do
  check "$kernel" "$copy" "$between" "$each"
done
# Without a number it is another record, of what is allocated at the moment.
for each in $(versions Memory); do
  [ "$each" = CUpti_ActivityMemory ] ||
    check "$kernel" "$copy" "$between" "$set" "$each"
done
echo "$checked layouts checked"
[ "$checked" -gt 4 ] && exit "$failed"
exit 1
