#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# embed.sh FILE...: the page's styles (.css) and its script (all .js, main.js
# last) as a C source on standard output; of .yaml the tool's presets, each by
# its name. What every Linux has does it, so that neither Bazel nor CMake needs a
# tool for it.
set -eu
export LC_ALL=C

# as_array NAME: standard input as the array NAME, and its size.
as_array() {
  echo "const unsigned char $1[] = {"
  od -An -v -tx1 | sed 's/ *\(..\)/0x\1,/g'
  echo "0};"
  echo "const size_t $1_len = sizeof $1 - 1;"
}

styles() {
  for file; do
    case $file in *.css) cat "$file" ;; esac
  done
}

script() {
  echo '(() => {'
  echo '"use strict";'
  for file; do
    case $file in */main.js) ;; *.js) cat "$file" ;; esac
  done
  for file; do
    case $file in */main.js) cat "$file" ;; esac
  done
  echo '})();'
}

page() {
  echo '#include "html/page_text.h"'
  styles "$@" | as_array ppi_page_style
  script "$@" | as_array ppi_page_script
}

presets() {
  rows=
  echo '#include "launch/preset.h"'
  for file; do
    name=$(basename "$file" .yaml)
    as_array "ppi_preset_$name" <"$file"
    rows="$rows{\"$name\", ppi_preset_$name, sizeof ppi_preset_$name - 1}, "
  done
  echo "const ppi_preset ppi_presets[] = {$rows{NULL, NULL, 0}};"
}

echo '// Made by embed.sh.'
case $1 in
  *.yaml) presets "$@" ;;
  *) page "$@" ;;
esac
