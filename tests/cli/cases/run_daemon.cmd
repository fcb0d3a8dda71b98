# The parent leaves by _exit; the command waits until its daemon has stopped.
"$TOOL" run --library "$RUN_LIBRARY" --logs logs -f csv --view overview -o - \
  sh -c "'$RUN_CHILD' record daemon mark stop touch='$PWD/done'
    until [ -e done ]; do :; done" | cut -d, -f1-3
ls logs | grep -vc 'pplog$'
