"$TOOL" run --library "$RUN_LIBRARY" --logs logs -f json --view userdefined -o out.json -- "$RUN_CHILD" record die 2>err
echo "exit $?"
grep -c "\"stage\",\"UserDefined\",10," out.json
ls logs | sed "s|.*\(.pplog.*\)|\1|"
