>out
"$TOOL" run --library "$RUN_LIBRARY" --logs logs -o out "$RUN_CHILD" hello
