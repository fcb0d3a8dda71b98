#!/usr/bin/env bash
# The wheel with what makes processes, threads and tasks for programs, each run for
# real in a virtual environment of its own, out/frameworks: run by hand and before a
# release, in the tree's root, after `./dev wheel`. It needs the Python index, and
# 1 GB for torch.
set -euo pipefail

out=$PWD/out/frameworks
python=$out/venv/bin/python
mkdir -p "$out"
[ -x "$python" ] || python3 -m venv "$out/venv"
"$python" -m pip install --quiet torch==2.13.0 numpy gunicorn anyio trio
"$python" -m pip install --quiet --force-reinstall --no-deps \
  out/wheel/pprof_pipeline-*"$(uname -m)".whl
library=$("$python" -c 'import pprof; print(pprof.library_path())')
failed=0
for test in tests/install/frameworks.py tests/python/{process,tasks,threads}_test.py; do
  echo "$test"
  "$python" "$test" "$library" "$out/venv/bin/pprof-report" || failed=1
done
"$python" -m pip list 2>/dev/null |
  grep -iE '^(torch|gunicorn|anyio|trio|pprof)' || true
"$python" --version
exit "$failed"
