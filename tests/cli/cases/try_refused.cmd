"$TOOL" try --base true
"$TOOL" try --base true --new true --until x
"$TOOL" try --base true --new true --max-runs 3
"$TOOL" try --base true --new true
"$TOOL" try --base 'exit 3' --new true
