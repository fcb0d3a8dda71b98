#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""verbs.py REPORT TOOL [RANGES [REPETITIONS]]: what pprof-report's verbs take for logs that the
program `report` writes. Medians: elapsed time of a report on two processors, in turns with one; on
one the CPU time and the most resident memory of comparing, of writing traces and of importing one."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

# Arguments of `report` beside the number of ranges.
LOGS = {
    "1 thread": ["-l", "1"],
    "2 threads": ["-l", "2"],
    "40 threads": ["-l", "40"],
    "17 % kernels": ["-l", "4", "-d", "31", "-s", "1e6"],
}


def run(processors, *command):
    """Elapsed and CPU seconds, and the most MB that were resident."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                             preexec_fn=lambda: os.sched_setaffinity(0, processors))
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    elapsed = time.monotonic() - begin
    # The status of `compare` reports differences.
    if child.returncode not in (0, 1) or (child.returncode and command[1] != "compare"):
        sys.exit(f"verbs.py: {' '.join(command)}: ended with {child.returncode}")
    return elapsed, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def medians(repetitions, processors, *command):
    runs = [run(processors, *command) for _ in range(repetitions)]
    return [statistics.median(column) for column in zip(*runs)]


def row(what, figure, unit, bound):
    print(f"row\t{what}\t{figure:.4g}\t{unit}\t{bound:g}")


def measure_two(tool, name, log, repetitions):
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        return
    ones, twos = [], []
    for _ in range(repetitions):
        ones.append(run({cpus[0]}, tool, log)[0])
        twos.append(run({cpus[0], cpus[1]}, tool, log)[0])
    ratios = [one / two for one, two in zip(ones, twos)]
    print(f"{name}: one processor {statistics.median(ones):.3f} s, two "
          f"{statistics.median(twos):.3f} s")
    row(f"report, {name}: two processors", statistics.median(ratios), "times one", -1.7)


def measure_verbs(tool, folder, logs, ranges, repetitions):
    one = {sorted(os.sched_getaffinity(0))[0]}
    _, cpu, memory = medians(repetitions, one, tool, "compare", "--force",
                             logs["1 thread"], logs["2 threads"])
    row("compare", 2 * ranges / cpu / 1e6, "million samples/s", -10)
    row("its resident memory", memory * 1e6 / (2 * ranges), "bytes a sample", 10)
    for name, bound in (("trace.json", -10), ("trace.json.gz", -3)):
        path = os.path.join(folder, name)
        _, cpu, _ = medians(repetitions, one, tool, "trace", "--force", logs["2 threads"],
                            "-o", path)
        row(f"trace as {name}", ranges / cpu / 1e6, "million events/s", bound)
    path = os.path.join(folder, "trace.json")
    _, cpu, memory = medians(repetitions, one, tool, "summary", path)
    row("import of that trace", os.path.getsize(path) / cpu / 1e6, "MB/s", -250)
    row("its resident memory", memory, "MB", 0)


def main():
    if not 3 <= len(sys.argv) <= 5:
        sys.exit("usage: verbs.py REPORT TOOL [RANGES [REPETITIONS]]")
    report, tool = sys.argv[1:3]
    ranges, repetitions = (sys.argv[3:] + ["4e6", "5"][len(sys.argv) - 3:])
    repetitions = int(repetitions)
    logs = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, options in LOGS.items():
            logs[name] = os.path.join(folder, name.replace(" ", "_") + ".pplog")
            subprocess.run([report, "-n", ranges, "-s", ranges, *options, "-w", logs[name]],
                           stdout=subprocess.DEVNULL, check=True)
            measure_two(tool, name, logs[name], repetitions)
        measure_verbs(tool, folder, logs, float(ranges), repetitions)


if __name__ == "__main__":
    main()
