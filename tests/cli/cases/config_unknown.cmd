"$TOOL" config valdate
