cp $LOGS/good.pplog a.pplog
cp $LOGS/lossy.pplog b.pplog
$TOOL merge a.pplog b.pplog -o ab.pplog && $TOOL merge b.pplog ab.pplog -o ba.pplog
cmp ab.pplog ba.pplog
$TOOL a.pplog b.pplog >two
$TOOL ab.pplog | cmp - two && echo same
