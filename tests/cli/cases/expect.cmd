# What good.pplog keeps, as rules; then a log of which records are lost, and
# rules that do not hold.
"$TOOL" expect --learn "$LOGS/good.pplog" -o expect.yaml
cat expect.yaml
"$TOOL" check --expect expect.yaml "$LOGS/good.pplog" "$LOGS/lossy.pplog"
echo $?
cat >own.yaml <<'END'
expect:
  - step has decode -> detect -> parse
  - step has model <= 0
  - no model in detect
  - p99(device:model) < 25 ms
  - overlap(model, decode) > 1 %
END
"$TOOL" check --expect own.yaml "$LOGS/good.pplog"
