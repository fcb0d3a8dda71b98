for options in "--columns calls,median" "--sort cpu-total --tree" \
  "--tree --flat" "--tree --style torch" "--tree --view cpu" "--depth -1"; do
  # shellcheck disable=SC2086
  "$TOOL" $options "$LOGS/cpu.pplog"
  echo "$?"
done
