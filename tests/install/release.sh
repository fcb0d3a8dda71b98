#!/usr/bin/env bash
# What new users do first, in fresh roots of Debian: release.sh [SUITE...], as root
# in the tree's root, with mmdebstrap. Debian's packages are built and looked at by
# lintian in one root, and used in another, which then builds the archive by CMake
# as well. The last line is `N passed, N failed`; what is said is in out/release.
set -uo pipefail

tree=$PWD
out=$tree/out/release
passed=0
failed=0
mkdir -p "$out"

# step NAME COMMAND...: ONLY=WORDS repeats those whose names have them.
step() {
  local name=$1 started=$SECONDS
  shift
  [[ $name =~ ${ONLY:-.} ]] || return 0
  if "$@" >"$out/${name//[ ,]/_}.log" 2>&1 </dev/null; then
    echo "PASSED $name, $((SECONDS - started)) s"
    passed=$((passed + 1))
  else
    tail -n 20 "$out/${name//[ ,]/_}.log"
    echo "FAILED $name"
    failed=$((failed + 1))
  fi
}

# root SUITE NAME: out/release/NAME, as Debian's installer leaves it.
root() {
  local tar=$out/$1.tar
  [ -e "$tar" ] ||
    mmdebstrap --mode=root --variant=minbase --format=tar "$1" "$tar.new" >&2 || return
  [ ! -e "$tar.new" ] || mv "$tar.new" "$tar"
  rm -rf --one-file-system "${out:?}/$2"
  mkdir "$out/$2" && tar -xf "$tar" -C "$out/$2" || return
  cp -L /etc/resolv.conf "$out/$2/etc/resolv.conf"
  in_root "$2" 'apt-get -qq update'
}

# in_root NAME COMMANDS: with a /proc, a /sys and a /dev/shm that end with it.
in_root() {
  DIR=$out/$1 COMMANDS=$2 unshare --mount --propagation private sh -ec '
    mount --rbind /proc "$DIR/proc"
    mount --rbind /sys "$DIR/sys"
    mount -t tmpfs tmpfs "$DIR/dev/shm"
    exec env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$DIR" sh -ec "$COMMANDS"'
}

readonly INSTALL='apt-get -qq install -y --no-install-recommends'

# build_packages SUITE: of the archive and debian/, in SUITE-build/work.
build_packages() {
  local work=$out/$1-build/work
  root "$1" "$1-build" || return
  mkdir "$work" && cp "$out/dist/pprof-$version.tar.gz" \
    "$work/pprof_$version.orig.tar.gz" || return
  tar -xf "$out/dist/pprof-$version.tar.gz" -C "$work" &&
    git archive HEAD debian | tar -x -C "$work/pprof-$version" || return
  in_root "$1-build" "$INSTALL build-essential
    cd /work/pprof-$version
    apt-get -qq build-dep -y --no-install-recommends ./
    dpkg-buildpackage -us -uc"
}

# It says nothing; of tests that a packager's own address would pass, nothing is
# asked.
check_packages() {
  in_root "$1-build" "$INSTALL lintian
    cd /work
    lintian --allow-root --fail-on error,warning --suppress-tags \
bogus-mail-host,initial-upload-closes-no-bugs,unreleased-changes *.changes"
}

use_packages() {
  root "$1" "$1-use" || return
  mkdir "$out/$1-use/debs" "$out/$1-use/tests"
  cp "$out/$1-build"/work/*.deb "$out/$1-use/debs"
  cp debian/tests/program "$out/$1-use/tests"
  in_root "$1-use" "$INSTALL gcc libc6-dev pkg-config cmake make python3
    $INSTALL /debs/libpprof*.deb /debs/pprof-tools_*.deb /debs/python3-pprof*.deb
    /tests/program
    . /etc/os-release; echo \$PRETTY_NAME; cc --version | head -n 1
    python3 --version; cmake --version | head -n 1"
}

# Where there is no more than a shell: what the README's section says, word for word,
# of its folder and its program; the demo, too.
use_readme() {
  root "$1" "$1-readme" || return
  mkdir "$out/$1-readme/tree"
  git archive HEAD | tar -x -C "$out/$1-readme/tree" || return
  # The log has a name of the host and the process.
  awk '/^## / { mine = /five minutes/ }
    mine && /^```c$/ { print "cat >hello.c <<\"END\""; copy = c = 1; next }
    mine && /^```sh$/ && num++ < 2 { copy = 1; next }
    /^```/ { if (c) print "END"; copy = c = 0 }
    copy { sub(/pprof.HOST.PID.pplog/, "pprof.*.pplog"); print }
  ' README.md >"$out/$1-readme/five_minutes.sh"
  in_root "$1-readme" 'cd /tree
    sh -ex /five_minutes.sh >said
    cat said
    grep "classify  *host" said
    grep "decode  *host" said'
}

use_demo() {
  in_root "$1-readme" 'cd /tree
    sed -n "/^.\/dev demo/p" README.md | sh -ex >said
    cat said
    grep "detector.stem  *opencl" said
    ls out/demo/pipeline.trace.json.gz'
}

# The archive, as whoever has no packages builds it.
use_cmake() {
  cp "$out/dist/pprof-$version.tar.gz" "$out/$1-use/"
  in_root "$1-use" "apt-get -qq purge -y '*pprof*'
    $INSTALL g++ zlib1g-dev libyaml-dev opencl-c-headers \
      libprotobuf-c-dev protobuf-c-compiler
    $INSTALL libboost1.81-dev || $INSTALL libboost-dev
    rm -rf build
    tar -xf pprof-$version.tar.gz
    cmake -S pprof-$version -B build
    cmake --build build -j$(nproc) >built 2>&1 || { cat built; exit 1; }
    if grep warning: built; then exit 1; fi
    cmake --install build --prefix /usr/local
    mkdir -p /usr/lib/python3/dist-packages
    cp -r pprof-$version/python/pprof /usr/lib/python3/dist-packages
    ldconfig
    /tests/program"
}

use_wheel() {
  local wheel
  wheel=$(ls "$tree"/out/wheel/pprof_pipeline-*"$(uname -m)".whl) || return
  cp "$wheel" "$out/$1-use/"
  in_root "$1-use" "$INSTALL python3-venv
    python3 -m venv venv
    venv/bin/pip install -q --no-index --find-links / pprof-pipeline
    cd /tmp
    /venv/bin/pprof-report run --logs wheel -o run.txt /venv/bin/python -c '
import pprof
with pprof.range(\"stage_in_wheel\"):
    pass'
    grep stage_in_wheel run.txt"
}

# It reads what the wheel has recorded, and says that it cannot run programs.
use_static() {
  cp "$tree/out/dist/pprof-report-$(uname -m)" "$out/$1-use/pprof-report" || return
  in_root "$1-use" "apt-get -qq purge -y '*pprof*'
    if ldd /pprof-report; then exit 1; fi
    /pprof-report /tmp/wheel | grep stage_in_wheel
    /pprof-report trace --force -o /tmp/trace.json /tmp/wheel/*.pplog
    if /pprof-report run -- true 2>/tmp/said; then exit 1; fi
    grep 'libpprof_nvtx.so is not installed' /tmp/said"
}

# Every gcc from 11 and clang from 14 that the suite has: public headers in all
# languages without a warning, and all sources of the library.
use_compilers() {
  in_root "$1-use" '
    for compiler in gcc-11 gcc-12 gcc-13 gcc-14 clang-14 clang-15 clang-16 \
      clang-17 clang-18 clang-19; do
      apt-cache show $compiler >/dev/null 2>&1 || continue
      case $compiler in gcc*) plus=$(echo $compiler | sed s/gcc/g++/) ;; *) plus= ;; esac
      '"$INSTALL"' $compiler $plus
      all="$all $compiler"
    done
    cd /pprof-*[0-9]
    COMPILERS=$all sh tests/install/headers_test.sh */include/pprof/*
    for compiler in $all; do
      find sdk/src sdk/backends sdk/nvtx exporters/src config/src tools -name "*.c" |
        xargs -P2 -n8 $compiler -fsyntax-only -std=c11 -D_GNU_SOURCE -Wall -Wextra \
          -Werror -Isdk/include -Iexporters/include -Iconfig/include \
          -iquotesdk/src -iquotesdk/backends -iquoteexporters/src \
          -iquoteconfig/src -iquotetools -iquotesdk/nvtx \
          -iquote/build/protos/tools
      $compiler --version | head -n 1
    done'
}

archive_is_reproducible() {
  rm -rf "$out/dist" "$out/again"
  tools/dist.sh "$out/dist" && tools/dist.sh "$out/again" &&
    diff -r "$out/dist" "$out/again"
}

version=$(sed -n 's/^#define PPI_VERSION "\(.*\)"/\1/p' sdk/src/base/base.h)
step "archive, twice the same" archive_is_reproducible
[ $# -gt 0 ] || set -- bookworm trixie
for suite in "$@"; do
  step "$suite, packages are built" build_packages "$suite"
  step "$suite, lintian" check_packages "$suite"
  step "$suite, packages are used" use_packages "$suite"
  step "$suite, README" use_readme "$suite"
  step "$suite, demo" use_demo "$suite"
  step "$suite, CMake" use_cmake "$suite"
  step "$suite, wheel" use_wheel "$suite"
  step "$suite, static pprof-report" use_static "$suite"
  step "$suite, compilers" use_compilers "$suite"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
