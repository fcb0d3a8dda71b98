# A name stands for its segments here, too: one after the other.
"$TOOL" info "$LOGS/cut.pplog" 2>/dev/null | grep -o 'cut.*pplog\|^state.*'
