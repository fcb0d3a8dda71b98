#!/usr/bin/env bash
# The record path, the log, the report and what is handed out for aarch64, run by qemu's
# user mode: by hand and before a release, in the tree's root, on x86-64. It needs
# Debian's packages g++-aarch64-linux-gnu, libgtest-dev, mmdebstrap and qemu-user, and root.
# The last line is `N passed, N failed`.
set -euo pipefail

out=$PWD/out/aarch64
deps=$PWD/out/portable/aarch64/deps
passed=0
failed=0
mkdir -p "$out"

# say NAME COMMAND...
say() {
  local name=$1
  shift
  if timeout 600 "$@" >"$out/$name.log" 2>&1 </dev/null; then
    echo "PASSED $name"
    passed=$((passed + 1))
  else
    tail -n 20 "$out/$name.log"
    echo "FAILED $name"
    failed=$((failed + 1))
  fi
}

[ -e out/wheel/pprof_pipeline-*aarch64.whl ] || ./dev wheel aarch64
[ -e out/dist/pprof-report-aarch64 ] || ./dev static aarch64

# By Debian's compiler, which warns of other things than the one of the wheel; zlib and
# libyaml are the wheel's.
cmake -S . -B "$out/build" -DCMAKE_SYSTEM_NAME=Linux \
  -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc \
  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_C_FLAGS=-Werror \
  -DPPROF_YAML_LIBRARY="$deps/lib/libyaml.a" \
  -DPPROF_YAML_INCLUDE="$deps/include" -DZLIB_LIBRARY="$deps/lib/libz.a" \
  -DZLIB_INCLUDE_DIR="$deps/include" -DPPROF_OPENCL_INCLUDE="$deps/include" \
  -DPPROF_BUILD_TOOLS=OFF >/dev/null
cmake --build "$out/build" -j "$(nproc)" >"$out/build.log" 2>&1 ||
  { tail -n 30 "$out/build.log" && exit 1; }

# compile OUT SOURCE...: headers of this machine's that are of no architecture.
ln -sfn /usr/include/gtest "$out/gtest"
compile() {
  local object=$1
  shift
  aarch64-linux-gnu-g++ -std=c++17 -O1 -D_GNU_SOURCE -I"$out" -I"$deps/include" \
    -I/usr/src/googletest/googletest -Isdk/include -Iexporters/include \
    -Iconfig/include -I. -iquotesdk/src -iquotesdk/backends -iquoteexporters/src \
    -iquoteconfig/src -iquotetools -iquotetests/support -iquotetests/tools \
    -c -o "$object" "$@"
}

link() {
  aarch64-linux-gnu-g++ -o "$@" "$out/support.a" "$out/build/libpprof.a" \
    "$deps/lib/libyaml.a" "$deps/lib/libz.a" -lpthread -ldl -lm -lrt
}

mkdir -p "$out/objects" "$out/tests"
if [ ! -e "$out/support.a" ]; then
  for file in /usr/src/googletest/googletest/src/gtest-all.cc \
    /usr/src/googletest/googletest/src/gtest_main.cc tests/support/*.cc; do
    [ ! -e "$file" ] || compile "$out/objects/$(basename "$file").o" "$file"
  done
  aarch64-linux-gnu-gcc -std=c11 -D_GNU_SOURCE -Isdk/include -Iexporters/include \
    -iquotesdk/src -iquoteexporters/src -iquotetests/tools \
    -c -o "$out/objects/log_lines.o" tests/tools/log_lines.c
  aarch64-linux-gnu-ar rcs "$out/support.a" "$out"/objects/*.o
fi

# The record path, the log, the report: of what they are made, and all of it.
readonly TESTS="capture codec_literals drain early_clock fence histogram identity
  lane_owner log_codec log_contents log_fields log_names log_reader log_recover log_runs
  log_writer marker_left marker_windows memory_limit merge name_cache names_kept names_old
  range_slots record_lines report report_model report_nesting report_sites
  report_threads requests rotate rule schema segments stages staging union utilization view
  windows yaml"
compile_test() {
  local test=$1 wrapped=()
  [ "$test" != fence ] || wrapped=(-Wl,--wrap=syscall)
  compile "$out/tests/$test.o" "tests/unit/${test}_test.cc" &&
    link "$out/tests/$test" "${wrapped[@]}" "$out/tests/$test.o"
}
export -f compile compile_test link
export out deps
# shellcheck disable=SC2086
printf '%s\n' $TESTS | xargs -P "$(nproc)" -I{} bash -c 'compile_test {}' ||
  failed=$((failed + 1))
# One test cannot be passed where the library is optimised, on x86-64 neither: markers
# are told apart by frames, which are larger without.
export GTEST_FILTER=-MarkerLeftTest.StopAndStartFindItThemselves
for test in $TESTS; do
  say "$test" qemu-aarch64 -L /usr/aarch64-linux-gnu "$out/tests/$test"
done

# The wheel, by Debian's Python for it, and what it has recorded, by both reports.
root=$out/root
if [ ! -e "$root/usr/bin/python3" ]; then
  rm -rf "$root"
  mmdebstrap --mode=root --variant=extract --architectures=arm64 --format=directory \
    --include=python3-minimal,libpython3-stdlib,zlib1g,libexpat1 \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" >"$out/root.log" 2>&1
fi
rm -rf "$out/wheel" "$out/logs"
mkdir -p "$out/wheel" "$out/logs"
python3 -m zipfile -e out/wheel/pprof_pipeline-*aarch64.whl "$out/wheel"
chmod +x "$out/wheel/pprof/bin/pprof-report"
cat >"$out/stage.py" <<'END'
import pprof

pprof.start({"output": "python.pplog", "memory_limit": "2MiB"})
for i in range(100):
    with pprof.range("stage_in_wheel"):
        pprof.step(1)
pprof.stop()
END
python_stage() {
  cd "$out/logs"
  PYTHONPATH=$out/wheel qemu-aarch64 -L "$root" "$root/usr/bin/python3" "$out/stage.py"
  test -s python.pplog
}
report_stage() {
  qemu-aarch64 -L "$root" "$@" "$out/logs/python.pplog" | grep stage_in_wheel
}
export -f python_stage report_stage
export root
say wheel bash -ec python_stage
say wheel-report bash -ec "report_stage $out/wheel/pprof/bin/pprof-report"
say static-report bash -ec "report_stage $PWD/out/dist/pprof-report-aarch64"
bazel=bazel-bin/tools/pprof-report
[ ! -x "$bazel" ] || say read-on-x86_64 "$bazel" check "$out/logs/python.pplog"
qemu-aarch64 --version | head -n 1
aarch64-linux-gnu-gcc --version | head -n 1
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
