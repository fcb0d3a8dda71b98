echo "{output: run.pplog, exports: [{format: html, path: $PWD/page.html}]}" >p.yaml
PPROF_CONFIG=p.yaml "$RUN_CHILD" record stop && "$TOOL" html -o same.html run.pplog && cmp page.html same.html && ls
