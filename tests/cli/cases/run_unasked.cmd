"$TOOL" run --library "$RUN_LIBRARY" --logs logs -f csv --view userdefined -o - "$RUN_CHILD" mark mark exit=3 | cut -d, -f1-3
ls logs | wc -l
