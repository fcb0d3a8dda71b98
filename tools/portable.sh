#!/usr/bin/env bash
# Builds for Linux systems of any age: tools/portable.sh ARCH OUT makes
# OUT/{bin,lib,include} for x86_64 or aarch64, against glibc 2.17, with zlib,
# libyaml and protobuf-c inside. `tools/portable.sh ARCH OUT static` makes
# OUT/pprof-report-ARCH alone, which needs no C library at all. Zig's compiler
# brings that glibc's symbols, and musl; the libraries are Debian's sources.
set -euo pipefail

die() {
  echo "portable: $*" >&2
  exit 1
}

readonly USAGE="usage: tools/portable.sh x86_64|aarch64 OUT [static]"
readonly GLIBC=2.17
arch=${1:-} out=${2:-} kind=${3:-}
case $arch in
  x86_64 | aarch64) ;;
  *) die "$USAGE" ;;
esac
case $kind in
  '') libc=gnu.$GLIBC ;;
  static) libc=musl ;;
  *) die "$USAGE" ;;
esac
[ -n "$out" ] || die "$USAGE"

tree=$PWD
work=$tree/out/portable
own=$work/$arch$kind
deps=$own/deps
mkdir -p "$own" "$out"
out=$(cd "$out" && pwd)
log=$own/build.log
: >"$log"

# quiet COMMAND...: its output goes to the log; a failure shows the log's end.
quiet() {
  "$@" >>"$log" 2>&1 </dev/null && return
  tail -n 30 "$log" >&2
  die "failed: $* (all of it: $log)"
}

get_zig() {
  [ -x "$work/zig/bin/python" ] || quiet python3 -m venv "$work/zig"
  "$work/zig/bin/python" -c 'import ziglang' 2>/dev/null ||
    quiet "$work/zig/bin/pip" install ziglang
  mkdir -p "$own/bin"
  local tool target
  for tool in cc c++ ar ranlib; do
    case $tool in
      cc | c++) target="-target $arch-linux-$libc" ;;
      *) target= ;;
    esac
    printf '#!/bin/sh\nexec "%s" -m ziglang %s %s "$@"\n' \
      "$work/zig/bin/python" "$tool" "$target" >"$own/bin/$tool"
    chmod +x "$own/bin/$tool"
  done
}

# Gets Debian's sources from the mirror of this machine's packages, by lists of
# their own: the machine's lists stay as they are.
get_sources() {
  local apt=$work/apt
  [ -d "$work/sources/zlib" ] && [ -d "$work/sources/libyaml" ] &&
    [ -d "$work/sources/protobuf-c" ] && return
  mkdir -p "$apt/parts" "$apt/lists/partial" "$work/sources"
  if [ -e /etc/apt/sources.list.d/debian.sources ]; then
    sed 's/^Types: deb$/Types: deb-src/' \
      /etc/apt/sources.list.d/debian.sources >"$apt/parts/own.sources"
  else
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$apt/parts/own.list"
  fi
  local options=(-qq -oDir::Etc::sourcelist=/dev/null
    -oDir::Etc::sourceparts="$apt/parts" -oDir::State::Lists="$apt/lists")
  cd "$work/sources"
  quiet apt-get "${options[@]}" update
  quiet apt-get "${options[@]}" source --download-only zlib libyaml \
    protobuf-c
  mkdir -p zlib libyaml protobuf-c
  tar -xf zlib_*.orig.tar.* -C zlib --strip-components=1
  tar -xf libyaml_*.orig.tar.* -C libyaml --strip-components=1
  tar -xf protobuf-c_*.orig.tar.* -C protobuf-c --strip-components=1
  cd "$tree"
}

# configure SOURCE BUILD OPTION...
configure() {
  local source=$1 build=$2 bin=$own/bin
  shift 2
  quiet cmake -S "$source" -B "$build" -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR="$arch" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER="$bin/cc" -DCMAKE_CXX_COMPILER="$bin/c++" \
    -DCMAKE_AR="$bin/ar" -DCMAKE_RANLIB="$bin/ranlib" "$@"
}

# cmake_for SOURCE BUILD OPTION...
cmake_for() {
  configure "$@"
  quiet cmake --build "$2" -j "$(nproc)"
  quiet cmake --install "$2"
}

build_zlib() {
  local bin=$own/bin
  [ -e "$deps/lib/libz.a" ] && return
  cp -r "$work/sources/zlib" "$own/zlib"
  cd "$own/zlib"
  quiet env CC="$bin/cc" AR="$bin/ar" RANLIB="$bin/ranlib" CFLAGS="-O2 -fPIC" \
    CHOST="$arch-linux-gnu" ./configure --static --prefix="$deps"
  quiet make libz.a
  mkdir -p "$deps/lib" "$deps/include"
  cp libz.a "$deps/lib"
  cp zlib.h zconf.h "$deps/include"
  cd "$tree"
}

build_libyaml() {
  [ -e "$deps/lib/libyaml.a" ] && return
  cmake_for "$work/sources/libyaml" "$own/libyaml" \
    -DCMAKE_INSTALL_PREFIX="$deps" -DCMAKE_INSTALL_LIBDIR=lib \
    -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON
}

# The library is one file; its protobuf compiler is this machine's.
build_protobuf_c() {
  local source=$work/sources/protobuf-c
  [ -e "$deps/lib/libprotobuf-c.a" ] && return
  mkdir -p "$deps/lib" "$deps/include/protobuf-c"
  cp "$source/protobuf-c/protobuf-c.h" "$deps/include/protobuf-c"
  quiet "$own/bin/cc" -O2 -fPIC -I"$source" -c \
    -o "$own/protobuf-c.o" "$source/protobuf-c/protobuf-c.c"
  quiet "$own/bin/ar" rcs "$deps/lib/libprotobuf-c.a" "$own/protobuf-c.o"
}

# Copies these headers alone: with their folder, the system's would come, too.
copy_headers() {
  mkdir -p "$deps/include" "$deps/boost"
  cp -rL /usr/include/CL "$deps/include"
  ln -sfn /usr/include/boost "$deps/boost/boost"
}

readonly FOUND=(-DPPROF_YAML_LIBRARY="$deps/lib/libyaml.a"
  -DPPROF_YAML_INCLUDE="$deps/include"
  -DZLIB_LIBRARY="$deps/lib/libz.a" -DZLIB_INCLUDE_DIR="$deps/include"
  -DPPROF_PROTOBUF_C_LIBRARY="$deps/lib/libprotobuf-c.a"
  -DPPROF_PROTOBUF_C_INCLUDE="$deps/include"
  -DPPROF_BOOST_INCLUDE="$deps/boost" -DPPROF_OPENCL_INCLUDE="$deps/include")

# libpprof_waits.so needs GCC's unwinder, which ends a cancelled thread. As glibc
# does, it uses the system's unwinder: Zig has only a part of another one.
make_unwinder() {
  local to=$own/unwinder
  mkdir -p "$to"
  echo 'void _Unwind_Resume(void) {} void __gcc_personality_v0(void) {}' \
    >"$to/unwinder.c"
  quiet "$own/bin/cc" -shared -nostdlib -Wl,-soname,libgcc_s.so.1 \
    -o "$to/libgcc_s.so.1" "$to/unwinder.c"
}

build_pprof() {
  make_unwinder
  cmake_for "$tree" "$own/build" "${FOUND[@]}" \
    -DCMAKE_INSTALL_PREFIX="$out" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_EXE_LINKER_FLAGS=-s -DCMAKE_SHARED_LINKER_FLAGS=-s \
    -DCMAKE_MODULE_LINKER_FLAGS="-s -Wl,--as-needed $own/unwinder/libgcc_s.so.1"
}

build_static() {
  configure "$tree" "$own/build" "${FOUND[@]}" -DPPROF_BUILD_NVTX=OFF \
    -DCMAKE_EXE_LINKER_FLAGS="-s -static"
  quiet cmake --build "$own/build" -j "$(nproc)" --target pprof-report
  ! readelf -l "$own/build/pprof-report" | grep -q INTERP ||
    die "pprof-report needs a loader"
  install -m 755 "$own/build/pprof-report" "$out/pprof-report-$arch"
  tools/parts.sh "$out/pprof-report-$arch" musl
}

# Checks each file: a symbol of a later glibc, or another library, would keep it
# from running on the systems of its name.
check() {
  local file newest needed
  for file in "$out"/lib/*.so "$out/bin/pprof-report"; do
    newest=$(readelf -V "$file" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
    [ "$(printf '%s\n' "GLIBC_$GLIBC" "$newest" | sort -V | tail -n 1)" = \
      "GLIBC_$GLIBC" ] || die "$file needs $newest"
    needed=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
      grep -vE '^(lib(c|m|dl|rt|pthread|gcc_s)\.so\.[0-9]|ld-linux-.*|libpprof\.so\.0)$' \
      || true)
    [ -z "$needed" ] || die "$file needs $needed"
  done
}

get_zig
get_sources
build_zlib
build_libyaml
build_protobuf_c
copy_headers
if [ "$kind" = static ]; then
  build_static
  echo "portable: $out/pprof-report-$arch, for any Linux of $arch"
else
  build_pprof
  check
  echo "portable: $out, for $arch and glibc $GLIBC or later"
fi
