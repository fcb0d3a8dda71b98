#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes whole logs of what this user's dead processes have left in memory.
# recover.sh: once. recover.sh SECONDS: again and again, and a last time when it
# is told to end. What still runs is left alone.
recover_all() {
  for spool in /dev/shm/pprof-*.spool; do
    if [ -O "$spool" ]; then pprof-report recover "$spool"; fi
  done
}

[ $# -eq 0 ] || trap 'recover_all; exit 0' TERM INT
recover_all
while [ $# -gt 0 ]; do
  sleep "$1" &
  wait $!
  recover_all
done
