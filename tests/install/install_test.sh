#!/bin/sh
# Installs into a folder, moves that folder, and builds programs outside the
# tree with what pkg-config says: C and C++, shared and static.
set -eu

here=$PWD
first=$TEST_TMPDIR/first
prefix="$TEST_TMPDIR/moved here"
tools/install.sh "$TEST_TMPDIR/build" "$first"
rm -r "$TEST_TMPDIR/build"
mv "$first" "$prefix"
cd "$TEST_TMPDIR"

fail() {
  echo "FAILED: $*"
  exit 1
}

for file in lib/libpprof.so lib/libpprof.so.0 lib/libpprof.a \
  lib/libpprof_nvtx.so lib/pkgconfig/pprof.pc bin/pprof-report \
  lib/python/pprof/_model/__main__.py \
  share/man/man1/pprof-report-run.1 share/man/man5/pprof.yaml.5 \
  share/bash-completion/completions/pprof-report include/pprof/pprof.h \
  include/pprof/mark.h; do
  [ -e "$prefix/$file" ] || fail "$file is not installed"
done
case $(readelf -d "$prefix/lib/libpprof.so") in
  *"soname: [libpprof.so.0]"*) ;;
  *) fail "the library's soname is not libpprof.so.0" ;;
esac
case $(readelf -d "$prefix/lib/libpprof.so") in
  *libstdc++* | *libOpenCL*) fail "more is needed than zlib and libyaml" ;;
esac

(cd "$prefix/share/doc/pprof" && python3 "$here/tests/code/documents_test.py" \
  Documents.test_links Documents.test_every_document_is_linked) ||
  fail "a link of the installed documents"

# build PREFIX COMPILER SOURCE PROGRAM PKG_CONFIG_OPTION...
build() {
  folder=$1 compiler=$2 source=$3 program=$4
  shift 4
  PKG_CONFIG_PATH="$folder/lib/pkgconfig" pkg-config "$@" --cflags --libs \
    pprof >flags
  # pkg-config quotes what a shell would split.
  eval "$compiler -Wall -Wextra -Werror -pedantic -o $program $source" \
    "$(cat flags)"
}

# run PROGRAM STAGE: its log holds the stage, and nothing was lost.
run() {
  LD_LIBRARY_PATH="$prefix/lib" "./$1" "$1.pplog" || fail "$1"
  "$prefix/bin/pprof-report" summary --strict "$1.pplog" >"$1.txt" ||
    fail "pprof-report on the log of $1"
  grep -q "$2" "$1.txt" || fail "$2 is not in the tables of $1"
}

install_c=$here/tests/install/outside.c
install_cc=$here/tests/install/outside.cc
build "$prefix" gcc "$install_c" shared_c
run shared_c outside_c
build "$prefix" "g++ -pthread" "$install_cc" shared_cc
run shared_cc outside_cc

# Python's package finds the library where both were moved to.
cat >stage.py <<'END'
import pprof

pprof.start({"output": "python.pplog"})
with pprof.range("outside_py"):
    pass
pprof.stop()
END
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$prefix/lib/python" python3 stage.py ||
  fail "stage.py"
"$prefix/bin/pprof-report" summary --strict python.pplog | grep -q outside_py ||
  fail "outside_py is not in the tables of Python's log"

# The tool finds that package beside itself: what it lacks is onnx, or the model.
"$prefix/bin/pprof-report" cost no.onnx 2>cost.txt && fail "pprof-report cost"
grep -qE "package onnx|no.onnx: No such file" cost.txt ||
  fail "cost: $(cat cost.txt)"

# The tool finds the injection beside itself, and that finds libpprof beside
# itself, wherever all of it was moved to.
"$prefix/bin/pprof-report" run --logs logs -o run.txt sh -c \
  'echo "$NVTX_INJECTION64_PATH"' >path.txt 2>/dev/null ||
  fail "pprof-report run"
[ "$(cat path.txt)" = "$prefix/lib/libpprof_nvtx.so" ] ||
  fail "pprof-report run found $(cat path.txt)"
ldd "$prefix/lib/libpprof_nvtx.so" | grep -qF "$prefix/lib/libpprof.so.0" ||
  fail "libpprof_nvtx.so does not find libpprof.so.0 beside itself"

cp -r "$prefix" static
rm static/lib/libpprof.so*
build "$PWD/static" gcc "$install_c" static_c --static
run static_c outside_c
build "$PWD/static" "g++ -pthread" "$install_cc" static_cc --static
run static_cc outside_cc

version=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" \
  pkg-config --modversion pprof)
[ "$(./static_c again.pplog)" = "pprof $version lost 0" ] ||
  fail "pprof.pc and pprof_version() differ"
