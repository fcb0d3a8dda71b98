: >empty.pplog
"$TOOL" empty.pplog
