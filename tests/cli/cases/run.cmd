PPROF_SET=machine=off "$TOOL" run --library "$RUN_LIBRARY" --logs logs --view userdefined "$RUN_CHILD" record stop exit=3 2>err
echo "exit $?"
grep -E "^(stage|first)|Trust: recorded|[0-9] log" err | sed "s|; clock.*||; s|[0-9.]* / .*||"
ls logs | wc -l
