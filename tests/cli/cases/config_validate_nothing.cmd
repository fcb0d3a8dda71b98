"$TOOL" config validate
