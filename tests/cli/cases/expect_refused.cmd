"$TOOL" expect "$LOGS/good.pplog"
for rules in 'expect: [p99(decode) < 8]' 'expect: 1' 'expects: []' '['; do
  printf '%s\n' "$rules" >rules.yaml
  "$TOOL" check --expect rules.yaml "$LOGS/good.pplog"
  echo $?
done
"$TOOL" check --expect nothing.yaml "$LOGS/good.pplog"
