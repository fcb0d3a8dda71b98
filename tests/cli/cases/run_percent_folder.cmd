"$TOOL" run --library "$RUN_LIBRARY" --logs 'a%h b' -o /dev/null \
  "$RUN_CHILD" record stop
