#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jobs.py REPORT TOOL [RANGES [REPETITIONS]]: the elapsed time of `pprof-report LOG` with 1, 2, 4, 8
and 16 threads, as far as there are processors, and of a report that finds the figures of an earlier
one. The program `report` writes the logs. Medians, numbers of threads in turns."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

# Arguments of `report`, and the share of RANGES. Ranges are a second's 4 million.
LOGS = {
    "1 lane": (["-l", "1"], 1),
    "8 lanes": (["-l", "8"], 1),
    "requests": (["-l", "8", "-q", "125"], 0.5),
    "17 % kernels": (["-l", "4", "-d", "31"], 0.5),
}
LEAST_OF_A_CORE = 0.7


def elapsed(*command):
    begin = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin


def row(what, figure, unit, bound):
    print(f"row\t{what}\t{figure:.4g}\t{unit}\t{bound:g}", flush=True)


def measure_jobs(tool, name, log, num_ranges, repetitions):
    most = len(os.sched_getaffinity(0))
    numbers = [jobs for jobs in (1, 2, 4, 8, 16) if jobs <= most]
    times = {jobs: [] for jobs in numbers}
    for _ in range(repetitions):
        for jobs in numbers:
            times[jobs].append(elapsed(tool, "--no-sums", "--jobs", str(jobs), log))
    row(f"{name}: elapsed, --jobs 1", num_ranges / statistics.median(times[1]) / 1e6,
        "million/s", 0)
    for jobs in numbers[1:]:
        row(f"{name}: --jobs {jobs}",
            statistics.median(one / many for one, many in zip(times[1], times[jobs])),
            "times as fast", -LEAST_OF_A_CORE * jobs)


def measure_again(tool, name, log, num_ranges, repetitions):
    subprocess.run([tool, log], stdout=subprocess.DEVNULL, check=True)
    if not os.path.exists(log + ".sum"):
        print(f"{name}: too short a log to keep figures")
        return
    again = statistics.median(elapsed(tool, log) for _ in range(repetitions))
    size = os.path.getsize(log + ".sum") / os.path.getsize(log)
    print(f"{name}: figures of an earlier report: {1e3 * again:.1f} ms, "
          f"{100 * size:.2f} % of the log's size")
    row(f"{name}: a log reported before", num_ranges / again / 1e6, "million/s", -1000)


def main():
    if not 3 <= len(sys.argv) <= 5:
        sys.exit("usage: jobs.py REPORT TOOL [RANGES [REPETITIONS]]")
    report, tool = sys.argv[1:3]
    ranges, repetitions = (sys.argv[3:] + ["1.2e7", "3"][len(sys.argv) - 3:])
    with tempfile.TemporaryDirectory() as folder:
        for name, (options, share) in LOGS.items():
            log = os.path.join(folder, name.replace(" ", "_") + ".pplog")
            num_ranges = float(ranges) * share
            subprocess.run([report, "-n", f"{num_ranges:g}", "-s", "4e6", *options, "-w", log],
                           stdout=subprocess.DEVNULL, check=True)
            measure_jobs(tool, name, log, num_ranges, int(repetitions))
            measure_again(tool, name, log, num_ranges, 2 * int(repetitions) + 1)
            os.unlink(log)


if __name__ == "__main__":
    main()
