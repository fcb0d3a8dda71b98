# Sizes depend on the compressor, and that on the machine.
"$TOOL" info "$LOGS/good.pplog" | sed -E "/size|events  |^  (info|definitions|events|windows|totals) +[0-9]/s/[0-9]+(\.[0-9]+)?/N/g; s/ +N/ N/g; s/^(  compressor +).*/\1LIBRARY/"
