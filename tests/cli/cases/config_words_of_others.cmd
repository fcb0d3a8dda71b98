echo 'capture: {steps: [10, 20)}' >half_open.yaml
echo 'capture: [10, 20]' >bare.yaml
echo 'record: 3' >top.yaml
"$TOOL" config validate half_open.yaml bare.yaml top.yaml
