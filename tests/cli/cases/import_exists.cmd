echo '[]' >t.json
echo mine >t.pplog
$TOOL import t.json
code=$?
cat t.pplog
exit $code
