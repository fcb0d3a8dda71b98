#!/bin/sh
# However a program and its libraries are linked with pprof, one session counts
# the markers of all of them: LIBPPROF.SO LIBPPROF.A. Run in the tree's root.
set -u

scratch=${TEST_TMPDIR:-$(mktemp -d)}
sources=tests/linkage
failed=0
passed=0

# The name the loader asks for, and the name the linker does.
cp "$1" "$scratch/libpprof.so.0"
ln -sf libpprof.so.0 "$scratch/libpprof.so"
cp "$2" "$scratch/libpprof_static.a"
shared="-L$scratch -lpprof -Wl,-rpath,$scratch"
static="$scratch/libpprof_static.a -lz -lyaml"
system="-lpthread -ldl -lm"

# compile LANGUAGE OUTPUT SOURCE OPTION...
compile() {
  compiler=gcc standard=c11
  if [ "$1" = c++ ]; then compiler=g++ standard=c++11; fi
  language=$1 output=$2 source=$sources/$3
  shift 3
  "$compiler" -x "$language" "-std=$standard" -O2 -Wall -Wextra -Werror \
    -D_GNU_SOURCE -I sdk/include -I exporters/include -I config/include \
    "$@" -c -o "$scratch/$output" "$source" || exit 1
}

# The libraries that mark: one linked with the program, one that it loads, the
# latter with a dependency on libpprof.so and without.
make_libraries() {
  compile "$1" linked.o marks.c -fPIC -DPART=part_linked
  compile "$1" plugin.o marks.c -fPIC -DPART=part_plugin
  g++ -shared -o "$scratch/liblinked.so" "$scratch/linked.o" $shared &&
    g++ -shared -o "$scratch/plugin.so" "$scratch/plugin.o" $shared &&
    g++ -shared -o "$scratch/plugin_bare.so" "$scratch/plugin.o" || exit 1
}

# check NAME COMMAND...
check() {
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    echo "FAILED: $name"
    failed=$((failed + 1))
  fi
}

# tells_second_copy COMMAND...: a plugin that brings a copy of the library and
# prefers it marks for nobody here, which is told.
tells_second_copy() {
  PPROF_LOG_LEVEL=info DEEPBIND=1 "$@" 2>&1 |
    grep -q 'pprof: info: .*libpprof.so.0: is a second copy of pprof'
}

# check_program LANGUAGE COMPILE_OPTIONS LINK_OPTION
check_program() {
  compile "$1" here.o marks.c $2 -DPART=part_here
  compile "$1" run.o run.c $2 -DLINKED
  compile "$1" program.o program.c $2
  objects="$scratch/here.o $scratch/run.o $scratch/program.o"
  linked="-L$scratch -llinked -Wl,-rpath,$scratch"
  g++ "$3" -o "$scratch/with_so" $objects $linked $shared $system || exit 1
  check "$1 $2 $3, libpprof.so" "$scratch/with_so" "$scratch/plugin.so"
  check "$1 $2 $3, libpprof.so, plugin without" \
    "$scratch/with_so" "$scratch/plugin_bare.so"
  check "$1 $2 $3, libpprof.so, plugin bound to it first" \
    env DEEPBIND=1 "$scratch/with_so" "$scratch/plugin.so"
  # Libraries find the program's own copy where it exports it.
  g++ "$3" -rdynamic -o "$scratch/with_a" $objects $linked $static $system ||
    exit 1
  check "$1 $2 $3, libpprof.a" "$scratch/with_a" "$scratch/plugin.so"
  check "$1 $2 $3, libpprof.a, plugin without" \
    "$scratch/with_a" "$scratch/plugin_bare.so"
  check "$1 $2 $3, libpprof.a, plugin bound to another copy" \
    tells_second_copy "$scratch/with_a" "$scratch/plugin.so"
}

check_host() {
  compile "$1" here.o marks.c -fPIC -DPART=part_here
  compile "$1" run.o run.c -fPIC
  compile "$1" host.o host.c -fPIE
  g++ -shared -o "$scratch/runner.so" "$scratch/here.o" "$scratch/run.o" \
    $shared $system || exit 1
  g++ -pie -o "$scratch/host" "$scratch/host.o" -ldl -lpthread || exit 1
  check "$1, a program that loads it all" \
    "$scratch/host" "$scratch/runner.so" "$scratch/plugin.so"
  check "$1, a program that loads it all, plugin bound first" \
    env DEEPBIND=1 "$scratch/host" "$scratch/runner.so" "$scratch/plugin.so"
}

# check_leaving LANGUAGE: a return from main finishes the log.
check_leaving() {
  compile "$1" leave.o leave.c -fPIE
  g++ -pie -o "$scratch/leave_so" "$scratch/leave.o" $shared $system &&
    g++ -pie -o "$scratch/leave_a" "$scratch/leave.o" $static $system || exit 1
  for with in so a; do
    log=$scratch/left.$1.$with.pplog
    check "$1, return from main, .$with" "$scratch/leave_$with" "$log"
    check "$1, .$with finishes its log" [ -s "$log" ]
    check "$1, .$with leaves no .part" [ ! -e "$log.part" ]
  done
}

for language in c c++; do
  make_libraries "$language"
  check_program "$language" -fPIE -pie
  check_program "$language" -fno-pie -no-pie
  check_program "$language" -fPIC -pie
  check_host "$language"
  check_leaving "$language"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
