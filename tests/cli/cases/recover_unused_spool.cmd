truncate -s 2M pprof-0123456789abcdef.spool
: >pprof-0123456789abcdee.spool
: >another.spool
mkdir folder
XDG_RUNTIME_DIR=$PWD "$TOOL" recover 2>/dev/null |
  grep -v "of running processes" | grep -A2 89abcde
"$TOOL" recover pprof-0123456789abcdef.spool pprof-0123456789abcdee.spool
"$TOOL" recover another.spool
echo "status $?"
ls
