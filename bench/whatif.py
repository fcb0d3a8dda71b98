#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whatif.py TOOL SCALE 'COMMAND' 'CHANGED' [RUNS]: how far `whatif --scale SCALE` lies off.

Runs a program and the changed one in turns, and prints of each pair what was recorded, what was
predicted, and what the changed program then did: requests or steps a second, and p99 in ms. Below
these the medians and the errors. docs/whatif.md has such figures."""
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile


def record(command, path):
    environment = dict(os.environ, PPROF_OUTPUT=path, PPROF_QUIET="1")
    subprocess.run(shlex.split(command), env=environment, check=True, stdout=subprocess.DEVNULL)


def rows(tool, path, scale):
    done = subprocess.run([tool, "whatif", "-f", "json", "--scale", scale, path], check=True,
                          text=True, stdout=subprocess.PIPE)
    said = json.loads(done.stdout)
    names = [column["name"] for column in said["columns"]]
    return [dict(zip(names, row)) for row in said["rows"]]


def figures(row):
    return row["rate"], row["p99"] / 1e6


def main():
    tool, scale, before, after = sys.argv[1:5]
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        for run in range(int(sys.argv[5]) if len(sys.argv) > 5 else 5):
            logs = [os.path.join(folder, "%d.%d.pplog" % (run, side)) for side in range(2)]
            record(before, logs[0])
            record(after, logs[1])
            recorded, predicted = rows(tool, logs[0], scale)
            truth = rows(tool, logs[1], "*=1")[0]
            pairs.append([figures(row) for row in (recorded, predicted, truth)])
            print("  ".join("%9.2f/s p99 %9.2f limits %s" % (*figures(row), row["limits"])
                            for row in (recorded, predicted, truth)), flush=True)
    for at, unit in enumerate(("/s", "ms p99")):
        middle = [statistics.median(pair[side][at] for pair in pairs) for side in range(3)]
        print("recorded %.2f, predicted %.2f, then %.2f %s: %+.1f %%"
              % (*middle, unit, 100 * (middle[1] / middle[2] - 1)))


main()
