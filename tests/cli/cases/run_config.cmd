echo "{memory_limit: 8MiB}" >p.yaml
"$TOOL" run --library "$RUN_LIBRARY" --logs logs -c p.yaml "$RUN_CHILD" env=PPROF_CONFIG record stop 2>/dev/null | sed "s|$PWD|HERE|"
"$TOOL" info logs/*.pplog | grep -c "memory_limit: 8MiB"
