# Three candidates: the worse ones are dropped at each look.
cp "$TESTS/cases/try_prog.sh" prog.sh
"$TOOL" try --base 'sh prog.sh 1' --new 'sh prog.sh 1.2' --new 'sh prog.sh 0.8' \
  --new 'sh prog.sh 0.9' --stage detect -f json --logs kept |
  sed -E 's/,?"The (machine|CPU)[^"]*"//g'
ls kept | sed 's/\..*//' | uniq -c
