"$TOOL" run --library "$RUN_LIBRARY" --logs logs -f csv --view overview -o - "$RUN_CHILD" record child child stop | cut -d, -f1-3
