"$TOOL" run --library "$RUN_LIBRARY" -o /dev/null "$RUN_CHILD" record stop 2>/dev/null
ls | sed "s|[0-9][0-9]*|N|"
ls pprof.run_child.*/*.pplog | wc -l
