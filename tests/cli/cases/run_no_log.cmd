echo "{log: false, exports: [{format: csv, path: x}]}" >p.yaml
"$TOOL" run --library "$RUN_LIBRARY" --logs logs --config p.yaml "$RUN_CHILD" hello
