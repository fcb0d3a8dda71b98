#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""verbs.py REPORT TOOL [RANGES [REPETITIONS]]: what pprof-report's verbs take for logs that the
program `report` writes: medians, on one processor, of the CPU time and the most resident memory of
comparing, of writing traces and of importing one."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

LOGS = {"one": ["-l", "1"], "two": ["-l", "2"]}


def run(*command):
    """CPU seconds, and the most MB that were resident."""
    one = {sorted(os.sched_getaffinity(0))[0]}
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                             preexec_fn=lambda: os.sched_setaffinity(0, one))
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    # The status of `compare` reports differences.
    if child.returncode not in (0, 1) or (child.returncode and command[1] != "compare"):
        sys.exit(f"verbs.py: {' '.join(command)}: ended with {child.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def medians(repetitions, *command):
    runs = [run(*command) for _ in range(repetitions)]
    return [statistics.median(column) for column in zip(*runs)]


def row(what, figure, unit, bound):
    print(f"row\t{what}\t{figure:.4g}\t{unit}\t{bound:g}")


def measure(tool, folder, logs, ranges, repetitions):
    cpu, memory = medians(repetitions, tool, "compare", "--force", logs["one"], logs["two"])
    row("compare", 2 * ranges / cpu / 1e6, "million samples/s", -10)
    row("compare: resident", memory * 1e6 / (2 * ranges), "bytes a sample", 10)
    for name, bound in (("trace.json", -8), ("trace.json.gz", -3)):
        path = os.path.join(folder, name)
        cpu, _ = medians(repetitions, tool, "trace", "--force", logs["two"], "-o", path)
        row(f"trace as {name}", ranges / cpu / 1e6, "million events/s", bound)
    path = os.path.join(folder, "trace.json")
    cpu, memory = medians(repetitions, tool, "summary", path)
    row("import of that trace.json", os.path.getsize(path) / cpu / 1e6, "MB/s", -200)
    row("import of that trace.json: resident", memory, "MB", 0)


def main():
    if not 3 <= len(sys.argv) <= 5:
        sys.exit("usage: verbs.py REPORT TOOL [RANGES [REPETITIONS]]")
    report, tool = sys.argv[1:3]
    ranges, repetitions = (sys.argv[3:] + ["4e6", "5"][len(sys.argv) - 3:])
    logs = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, options in LOGS.items():
            logs[name] = os.path.join(folder, name + ".pplog")
            subprocess.run([report, "-n", ranges, "-s", ranges, *options, "-w", logs[name]],
                           stdout=subprocess.DEVNULL, check=True)
        measure(tool, folder, logs, float(ranges), int(repetitions))


if __name__ == "__main__":
    main()
