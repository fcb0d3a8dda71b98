#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# embed.sh HEADER ARRAY FILE...: the files as a C source on standard output, the
# ppi_carried ARRAY[] that HEADER declares, in the order of their names. A number
# before a name, `2_`, is for that order alone.
set -eu
export LC_ALL=C

readonly header=$1 array=$2
shift 2

# "NAME FILE" for each.
in_order() {
  for file; do
    name=$(basename "$file")
    echo "${name%.*} $file"
  done | sort | sed 's/^[0-9][0-9]*_//'
}

echo '// Made by embed.sh.'
echo "#include \"$header\""
in_order "$@" | while read -r name file; do
  echo "static const char text_$(echo "$name" | tr - _)[] = {"
  od -An -v -tx1 <"$file" | sed 's/ *\(..\)/0x\1,/g'
  echo "0};"
done
echo "const ppi_carried $array[] = {"
in_order "$@" | while read -r name file; do
  echo "{\"$name\", text_$(echo "$name" | tr - _)},"
done
echo '{0, 0}};'
