"$TOOL" info -f json "$LOGS/good.pplog" |
  sed -E "s/(file_bytes|raw_bytes|stored_bytes)\":[0-9]+/\1\":N/g; s/(compressor\":\")[a-z]+/\1LIBRARY/"
