# One run counts once, however often it is given: under two names, in a merged
# log, as a trace of it.
cp "$LOGS/good.pplog" a.pplog
cp "$LOGS/lossy.pplog" b.pplog
ln -s a.pplog link.pplog
"$TOOL" merge a.pplog b.pplog -o ab.pplog 2>/dev/null
"$TOOL" trace a.pplog -o a.json 2>/dev/null
"$TOOL" summary a.pplog >one
"$TOOL" summary a.pplog b.pplog >two
same() {
  cmp "$1" "$2" && echo "$3: same"
}
"$TOOL" summary a.pplog a.pplog | same one - twice
"$TOOL" summary a.pplog link.pplog | same one - link
"$TOOL" summary a.pplog a.json | same one - trace
"$TOOL" summary ab.pplog b.pplog a.pplog | same two - merged
"$TOOL" summary b.pplog ab.pplog | same two - "merged last"
"$TOOL" trace ab.pplog -o ab.json
"$TOOL" trace ab.pplog a.pplog b.pplog -o again.json
same ab.json again.json trace
"$TOOL" compare a.pplog link.pplog
echo "exit $?"
"$TOOL" merge a.pplog a.json -o m.pplog
same a.pplog m.pplog merge
