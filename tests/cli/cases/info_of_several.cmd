cp $LOGS/good.pplog a.pplog
$TOOL merge a.pplog $LOGS/lossy.pplog -o m.pplog
$TOOL info m.pplog | grep -E "run |uuid|events  "
$TOOL check m.pplog
