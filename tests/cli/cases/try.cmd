# The second stage is slower: found, and the run ends with 1.
cp "$TESTS/cases/try_prog.sh" prog.sh
"$TOOL" try --base 'sh prog.sh 1' --new 'sh prog.sh 1.08' --max-runs 12 -o out
echo $?
grep -v 'busy\|governor\|^Note\|^--' out
ls
