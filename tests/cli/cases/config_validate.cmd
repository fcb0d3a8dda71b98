echo "capture: {active: 3}" >good.yaml
"$TOOL" config validate good.yaml good.yaml
