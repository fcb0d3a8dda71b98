"$TOOL" run --library "$RUN_LIBRARY" --logs logs -- "$RUN_CHILD" hello exit=5
echo "exit $?"
[ ! -e logs ]
