#!/bin/sh
# The shared library exports exactly the public interface, each name in the
# version in which it came: LIBRARY GOLDEN. Adding a call means adding its line;
# a line never goes, nor changes its version.
set -eu
export LC_ALL=C
nm -D --defined-only --extern-only "$1" | awk '$2 != "A" {print $3}' | sort |
  diff -u "$2" - >"$TEST_TMPDIR/diff" && exit 0
echo "exported symbols differ from $2:"
cat "$TEST_TMPDIR/diff"
exit 1
