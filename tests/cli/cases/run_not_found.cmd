"$TOOL" run --library "$RUN_LIBRARY" --logs logs ./no-such-program
echo "exit $?"
[ ! -e logs ]
