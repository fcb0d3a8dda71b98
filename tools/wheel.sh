#!/usr/bin/env bash
# Makes the Python wheel with all in it: tools/wheel.sh ARCH OUT. The library,
# libpprof_nvtx.so and pprof-report are those of tools/portable.sh.
set -euo pipefail

arch=$1 out=$2
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$PWD/out/portable
stage=$work/$arch/wheel

tools/portable.sh "$arch" "$work/$arch/installed"
rm -rf "$stage"
mkdir -p "$stage"
cp -r python/pyproject.toml python/README.md python/pprof LICENSE "$stage"
rm -rf "$stage/pprof/__pycache__"
mkdir "$stage/pprof/lib" "$stage/pprof/bin"
installed=$work/$arch/installed
install -m 755 "$installed/lib/libpprof.so" "$stage/pprof/lib/libpprof.so.0"
install -m 755 "$installed/lib/libpprof_nvtx.so" \
  "$installed/lib/libpprof_waits.so" "$stage/pprof/lib"
install -m 755 "$installed/bin/pprof-report" "$stage/pprof/bin"

# The files inside decide where the wheel runs, not this machine.
python=$work/zig/bin/python
"$python" -m pip install --quiet --disable-pip-version-check setuptools wheel
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps \
  --no-build-isolation -w "$stage/made" "$stage"
"$python" -m wheel tags --remove \
  --platform-tag "manylinux_2_17_$arch.manylinux2014_$arch" \
  "$stage"/made/*-any.whl >/dev/null
cp "$stage"/made/*.whl "$out"
tools/parts.sh "$(ls "$out"/pprof_pipeline-*"$arch".whl)"
ls "$out"/pprof_pipeline-*"$arch".whl
