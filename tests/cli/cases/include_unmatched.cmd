PPROF_SET='include=["stag", "sta*"]' PPROF_OUTPUT=run.pplog "$RUN_CHILD" record stop; "$TOOL" run.pplog >/dev/null; PPROF_SET='include=["stag"]; privacy.names=hash' PPROF_OUTPUT=run2.pplog "$RUN_CHILD" record stop; "$TOOL" run2.pplog >/dev/null
PPROF_SET='include=["stag"]; machine=on' PPROF_OUTPUT=run3.pplog "$RUN_CHILD" record stop; "$TOOL" run3.pplog >/dev/null
