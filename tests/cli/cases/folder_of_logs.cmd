mkdir logs empty
cp "$LOGS/good.pplog" logs/b.pplog
cp "$LOGS/lossy.pplog" logs/a.pplog
echo text >logs/notes.txt
"$TOOL" -f json logs >folder && "$TOOL" -f json logs/a.pplog logs/b.pplog | cmp - folder && echo same
"$TOOL" merge -o folder.pplog logs/ && "$TOOL" merge -o files.pplog logs/a.pplog logs/b.pplog && cmp folder.pplog files.pplog && echo same
"$TOOL" empty
