"$TOOL" config validate missing.yaml
