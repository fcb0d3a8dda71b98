"$TOOL" -f=json "$LOGS/good.pplog" >equals && "$TOOL" -f json "$LOGS/good.pplog" | cmp - equals && echo same
"$TOOL" -ocsv -fcsv "$LOGS/good.pplog" && "$TOOL" -f=csv -o== "$LOGS/good.pplog" && cmp csv = && echo same
