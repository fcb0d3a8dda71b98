"$TOOL" run --library ./none.so "$RUN_CHILD" hello
