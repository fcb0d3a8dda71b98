echo "log: true" >good.yaml
printf 'log: true\ncaptre: {active: 3}\n' >bad.yaml
"$TOOL" config validate bad.yaml good.yaml
