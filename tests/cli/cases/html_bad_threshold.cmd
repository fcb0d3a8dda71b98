"$TOOL" html --threshold host-bond=3 "$LOGS/good.pplog"; echo $?; "$TOOL" html --peak x "$LOGS/good.pplog"; echo $?; ls
