PPROF_SET="loog=false" "$TOOL" config show
