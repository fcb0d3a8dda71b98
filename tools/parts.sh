#!/usr/bin/env bash
# Lists what a binary of tools/portable.sh consists of, as SPDX in FILE.spdx.json:
# tools/parts.sh FILE [LIBC], where LIBC is musl if it is inside, too.
set -euo pipefail

file=$1 libc=${2:-}
work=out/portable
zig=$("$work/zig/bin/python" -m ziglang version)
parts=("libcxx=of Zig $zig")
[ -z "$libc" ] || parts+=("$libc=of Zig $zig")
for part in zlib libyaml protobuf-c; do
  source=$(basename "$work/sources/${part}"_*.orig.tar.*)
  source=${source#*_}
  parts+=("$part=${source%.orig*}")
done
parts+=("boost-json=$(sed -n 's/^#define BOOST_LIB_VERSION "\(.*\)"/\1/p' \
  /usr/include/boost/version.hpp | tr _ .)")
version=$(sed -n 's/^#define PPI_VERSION "\(.*\)"/\1/p' sdk/src/base/base.h)
(cd "$(dirname "$file")" && sha256sum "$(basename "$file")") >"$work/sum"
python3 tools/sbom.py "$version" "$(git log -1 --format=%ct)" "$work/sum" \
  "${parts[@]}" >"$file.spdx.json"
