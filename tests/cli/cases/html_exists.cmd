cp "$LOGS/good.pplog" .; "$TOOL" html good.pplog && "$TOOL" html good.pplog
