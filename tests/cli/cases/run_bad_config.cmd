echo "captre: 1" >p.yaml
"$TOOL" run --library "$RUN_LIBRARY" --logs logs --config p.yaml "$RUN_CHILD" hello
