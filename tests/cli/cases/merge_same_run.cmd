# One run counts once: of its bytes the whole ones, in any order.
cp $LOGS/good.pplog a.pplog
head -c $(($(wc -c <a.pplog) / 2)) a.pplog >b.pplog
ln -s a.pplog link.pplog
$TOOL merge a.pplog b.pplog -o 1.pplog
$TOOL merge b.pplog link.pplog a.pplog -o 2.pplog
cmp a.pplog 1.pplog && cmp a.pplog 2.pplog && echo same
