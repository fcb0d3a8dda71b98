#!/bin/sh
# Puts a finished build under a prefix: BIN PREFIX. BIN is Bazel's output
# folder, the sources are in the current one.
set -eu

bin=$1
prefix=$2

version=$(sed -n 's/^Version: *//p' "$bin/pprof.pc")
[ -n "$version" ] || { echo "install: pprof.pc has no version" >&2 && exit 1; }
soname=libpprof.so.${version%%.*}

mkdir -p "$prefix/include/pprof" "$prefix/lib/pkgconfig" "$prefix/bin" \
  "$prefix/share/doc/pprof"
for folder in sdk exporters config; do
  install -m 644 "$folder"/include/pprof/* "$prefix/include/pprof"
done
install -m 755 "$bin/libpprof.so" "$prefix/lib/libpprof.so.$version"
ln -sf "libpprof.so.$version" "$prefix/lib/$soname"
ln -sf "$soname" "$prefix/lib/libpprof.so"
install -m 755 "$bin/sdk/nvtx/libpprof_nvtx.so" "$prefix/lib"
install -m 644 "$bin/libpprof.a" "$prefix/lib"
install -m 644 "$bin/pprof.pc" "$prefix/lib/pkgconfig"
install -m 755 "$bin/tools/pprof-report" "$prefix/bin"
tools/pages.sh "$prefix/bin/pprof-report" "$prefix/share"
mkdir -p "$prefix/lib/python/pprof"
install -m 644 python/pprof/*.py python/pprof/*.pyi python/pprof/py.typed \
  "$prefix/lib/python/pprof"
for file in LICENSE README.md CHANGELOG.md; do
  if [ -e "$file" ]; then
    install -m 644 "$file" "$prefix/share/doc/pprof"
  fi
done
