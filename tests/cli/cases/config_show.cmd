# API, environment, file, default: the one before goes before the next.
printf 'output: file.pplog\nlog: true\ncapture:\n  - active: 3\n' >a.yaml
echo "output: other.pplog" >b.yaml
export PPROF_CONFIG=b.yaml PPROF_OUTPUT=variable.pplog PPROF_SET="log=false;exports=[{format: csv, path: a.csv}]"
"$TOOL" config show --origin a.yaml | grep -E '^(output|log|memory_limit|capture|exports|  - |# include)'
unset PPROF_OUTPUT PPROF_SET
"$TOOL" config show | grep -E '^(output|log|memory_limit|capture|exports|  - |# include)'
