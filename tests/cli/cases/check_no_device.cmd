# Ranges of a device that is not there are of no stream.
"$TOOL" check "$LOGS/no_device.pplog" | sed "s|$LOGS/||"
