# All but the list of views, which is that of exporters/src/print/lists.h.
"$TOOL" help -v | sed '/^  --view VIEW/,/\[all\]$/d'
