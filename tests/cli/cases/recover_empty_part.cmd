: >killed.pplog.part
: >kept.pplog.part
: >empty.pplog
"$TOOL" recover killed.pplog.part
echo "status $?"
"$TOOL" recover --keep kept.pplog.part
echo "status $?"
"$TOOL" recover empty.pplog
echo "status $?"
ls
