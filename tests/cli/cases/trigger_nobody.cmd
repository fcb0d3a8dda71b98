# Nobody to ask, and what is no question.
export XDG_RUNTIME_DIR="$PWD"
sh -c 'exit 0' &
dead=$!
wait $dead
"$TOOL" trigger --pid $dead 2>err
echo "exit $?"
sed "s/process $dead/process PID/" err
"$TOOL" trigger --pid $$ 2>err
echo "exit $?"
sed "s/process $$/process PID/" err
mkdir elsewhere
chmod 700 elsewhere
ln -s elsewhere pprof
"$TOOL" trigger --pid $$ 2>err
echo "exit $?"
cat err
"$TOOL" trigger
echo "exit $?"
"$TOOL" trigger --pid x
echo "exit $?"
"$TOOL" trigger --pid $$ --steps 0
echo "exit $?"
"$TOOL" trigger --pid $$ --seconds 1e9
echo "exit $?"
"$TOOL" trigger --pid $$ --seconds 1 --steps 1
echo "exit $?"
"$TOOL" trigger 17
echo "exit $?"
"$TOOL" trigger --pid $$ -o -
echo "exit $?"
: >there
"$TOOL" trigger --pid $$ -o there
echo "exit $?"
