# A segment counts once, too; of a merged log and a segment of it `merge` makes
# one.
"$TOOL" summary "$LOGS/good.pplog" >good
"$TOOL" summary "$LOGS"/cut.000[123].pplog "$LOGS/cut.0002.pplog" |
  cmp - good && echo same
"$TOOL" merge "$LOGS"/cut.000[123].pplog -o all.pplog
"$TOOL" merge all.pplog "$LOGS/cut.0002.pplog" -o again.pplog
cmp all.pplog again.pplog && echo same
"$TOOL" summary all.pplog "$LOGS/cut.0002.pplog" >several
