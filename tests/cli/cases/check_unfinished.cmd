# Up to the last block, the totals: all that a full disk took.
at=$(grep -abo "$(printf '\261PPB')" "$LOGS/good.pplog" | tail -1 | cut -d: -f1)
head -c "$at" "$LOGS/good.pplog" >x.pplog.part
"$TOOL" check x.pplog.part
"$TOOL" check --strict x.pplog.part >strict.txt
echo "strict: $?"
