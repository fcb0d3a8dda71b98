echo "no log at all, but long enough to have had a header in it" >text.pplog
"$TOOL" text.pplog
