cat >bad.yaml <<'END'
memory_limit: 1
captre: {active: 3}
capture:
  - {closed: 1, ready: 1, record: 2}
  - {steps: [9, 3]}
rotate: {size: 1, kep: 2}
exports:
  - {format: jsn, path: a}
  - {format: csv, path: "%x"}
log: true
END
"$TOOL" config validate bad.yaml
echo "rotate: {keep: 2}" >alone.yaml
"$TOOL" config validate alone.yaml
