cp "$LOGS"/cut.000[23].pplog .
"$TOOL" summary --verbose cut.0002.pplog cut.0003.pplog | grep '^Trust'
"$TOOL" summary "$LOGS/cut.0001.pplog" cut.0003.pplog >/dev/null
