echo text >file
"$TOOL" run --library "$RUN_LIBRARY" --logs logs ./file
echo "exit $?"
