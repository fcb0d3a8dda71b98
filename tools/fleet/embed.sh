#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# embed.sh N_NAME.sql...: the views as a C source on standard output, in the
# order of N: those of a higher one use those of lower ones.
set -eu
export LC_ALL=C

# "NAME FILE" for each, without the number.
in_order() {
  for file; do echo "$(basename "$file" .sql) $file"; done | sort |
    sed 's/^[0-9]*_//'
}

echo '// Made by embed.sh.'
echo '#include "fleet/views.h"'
in_order "$@" | while read -r name file; do
  echo "static const char text_$name[] = {"
  od -An -v -tx1 <"$file" | sed 's/ *\(..\)/0x\1,/g'
  echo "0};"
done
echo 'const ppi_fleet_view ppi_fleet_views[] = {'
in_order "$@" | while read -r name file; do
  echo "{\"$name\", text_$name},"
done
echo '{0, 0}};'
