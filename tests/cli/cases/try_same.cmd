# A program against itself, until no stage can have changed by more than 10 %.
cp "$TESTS/cases/try_prog.sh" prog.sh
"$TOOL" try --base 'sh prog.sh 1' --new 'sh prog.sh 1' --until 10% --stage 'd*' \
  -f csv
echo $?
