mkdir logs
>logs/a
"$TOOL" run --library "$RUN_LIBRARY" --logs logs "$RUN_CHILD" hello
