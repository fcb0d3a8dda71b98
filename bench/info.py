#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""info.py REPORT TOOL [RANGES [REPETITIONS]]: what `pprof-report info` takes for a long log, which
the program `report` writes. Medians of CPU time, `info` and a plain read of the file in turns."""
import os
import resource
import statistics
import subprocess
import sys
import tempfile


def cpu_seconds(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    if not 3 <= len(sys.argv) <= 5:
        sys.exit("usage: info.py REPORT TOOL [RANGES [REPETITIONS]]")
    report, tool = sys.argv[1:3]
    ranges, repetitions = (sys.argv[3:] + ["1e8", "9"][len(sys.argv) - 3:])
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "long.pplog")
        subprocess.run([report, "-n", ranges, "-w", log], stdout=subprocess.DEVNULL, check=True)
        size = os.path.getsize(log) / 1e9
        infos, reads = [], []
        for _ in range(int(repetitions)):
            reads.append(cpu_seconds("cat", log))
            infos.append(cpu_seconds(tool, "info", log))
    info, read = statistics.median(infos), statistics.median(reads)
    print(f"{size:.3f} GB, in memory: info {info:.3f} s, a plain read {read:.3f} s\n")
    print(f"row\tinfo of a log of {float(ranges):.0e} ranges\t{info:.4f}\ts CPU\t0")


if __name__ == "__main__":
    main()
