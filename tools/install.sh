#!/bin/sh
# Builds the tree in the current folder by CMake and installs it: BUILD PREFIX. As
# `cmake --install`, with Python's package beside the library.
set -eu

build=$1
prefix=$2

cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib \
  -DCMAKE_INSTALL_PREFIX="$prefix" >/dev/null
cmake --build "$build" -j "$(nproc)" >"$build/log" 2>&1 ||
  { tail -n 30 "$build/log" >&2 && exit 1; }
cmake --install "$build" >/dev/null
mkdir -p "$prefix/lib/python/pprof/_model"
install -m 644 python/pprof/*.py python/pprof/*.pyi python/pprof/py.typed \
  "$prefix/lib/python/pprof"
install -m 644 python/pprof/_model/*.py "$prefix/lib/python/pprof/_model"
