"$TOOL" run --config x.yaml
