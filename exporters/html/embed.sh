#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# embed.sh FILE...: the page's styles (.css) and its script (all .js, main.js
# last) as a C source on standard output. What every Linux has does it, so that
# neither Bazel nor CMake needs a tool for it.
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

echo '// Made by embed.sh.'
echo '#include "html/page_text.h"'
styles "$@" | as_array ppi_page_style
script "$@" | as_array ppi_page_script
