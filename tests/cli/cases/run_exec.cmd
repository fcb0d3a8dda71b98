# Both programs of the one process.
"$TOOL" run --library "$RUN_LIBRARY" --logs logs -f csv --view overview -o - \
  "$RUN_CHILD" record exec | cut -d, -f1-3
ls logs | grep -vc 'pplog$'
