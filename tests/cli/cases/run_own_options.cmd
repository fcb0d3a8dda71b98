"$TOOL" run --library "$RUN_LIBRARY" --logs logs "$RUN_CHILD" --view -o --force 2>err
sed "s|$RUN_CHILD|RUN_CHILD|" err | cut -c1-48
