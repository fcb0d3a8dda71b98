# Joules of the model's calls: 150 J against 135, by 300 and 270 W for half a
# second; resize is busy for less than 20 samples.
J=$LOGS/joules
"$TOOL" compare --metric energy "$J/300.pplog" "$J/270.pplog"
mkdir a b
cp "$J"/30?.pplog a
cp "$J"/27?.pplog b
"$TOOL" compare --metric energy --fail-on faster -o out a b
echo $?
"$TOOL" compare --metric energy -f csv a b |
  cut -d, -f1,3,4,5,6,14,21,22,30,31-
"$TOOL" compare --metric energy a/300.pplog b/270.pplog a/301.pplog
"$TOOL" compare --threshold model.energy=20% --stage model -f csv a b |
  cut -d, -f1,4,21,31,33-
"$TOOL" compare --metric energy "$LOGS/good.pplog" "$LOGS/lossy.pplog"
