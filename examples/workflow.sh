#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# From a baseline to a proof, in one command: measure, profile, find, fix, compare. Needs an
# installed pprof (README.md: PATH, PKG_CONFIG_PATH, LD_LIBRARY_PATH). Builds `loader` unless it
# is in PATH; writes logs into the current folder.
set -eu
source=$(dirname "$0")/loader.c
command -v loader >/dev/null || {
  cc -O2 "$source" $(pkg-config --cflags --libs pprof) -lpthread -o loader
  PATH=$PWD:$PATH
}
for run in 1 2 3 4 5; do  # the baseline: one thread unpacks
  PPROF_OUTPUT=before$run.pplog loader 1 200 >loader.txt
done
pprof-report before1.pplog  # its answer names unpack; its "Next:" asks for more threads
for run in 1 2 3 4 5; do  # the fix: four threads unpack
  PPROF_OUTPUT=after$run.pplog loader 4 200 >loader.txt
done
pprof-report merge -o before.pplog before?.pplog 2>merge.txt
pprof-report merge -o after.pplog after?.pplog 2>merge.txt
for log in before after; do
  pprof-report --view perf $log.pplog | grep -E 'ips|Reader'
done
# 5 says that the machine changed meanwhile: the table is printed all the same.
pprof-report compare --stage ProfileStep,fit --fail-on none before.pplog after.pplog \
  2>compare.txt || test $? -eq 5
