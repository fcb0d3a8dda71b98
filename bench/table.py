#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py BIN [--only NAME]... [--list]: runs the benchmarks that were built into BIN and prints
their figures and bounds, of markers in one table and of reports in another. What each of them
prints besides stands above them.

BIN is `bazel info -c opt bazel-bin`, or a copy of what `--list` names of it, on a machine without
Bazel. A benchmark that lacks something is left out, with the reason. Exits 1 when one failed or
none ran. A missed bound is reported and is no error, because machines differ."""
import argparse
import collections
import os
import platform
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# `files` are in BIN, `scripts` beside this one, `tools` in PATH.
Benchmark = collections.namedtuple("Benchmark", "name files arguments scripts tools",
                                   defaults=((), (), ()))

REPORT = os.path.join("tools", "pprof-report")
PIPELINE = os.path.join("examples", "pipeline")
LIBRARY = "libpprof.so.0"
INJECTED = os.path.join("sdk", "nvtx", "libpprof_nvtx.so")


def built(name):
    return os.path.join("bench", name)


# Arguments follow the files, which follow the script.
BENCHMARKS = [
    Benchmark("markers", [built("markers")], ["200"]),
    Benchmark("markers_shared", [built("markers_shared"), LIBRARY], ["200"]),
    Benchmark("markers_lto", [built("markers_lto")], ["200"]),
    Benchmark("growth", [built("growth")], ["25"]),
    Benchmark("nvtx", [built("nvtx"), LIBRARY, INJECTED, built("nvtx_empty.so")], ["100"]),
    Benchmark("cpu", [built("cpu")], ["200"]),
    Benchmark("waits", [built("waits")], ["200"]),
    Benchmark("flight", [built("flight")], ["10", "16"]),
    Benchmark("writer", [built("writer")], ["-n", "1e6", "-r", "5", "-s", "1"]),
    Benchmark("report", [built("report")], ["-n", "2e7", "-r", "3"]),
    Benchmark("report_one", [built("report")], ["-n", "2e7", "-r", "3", "-l", "1"]),
    Benchmark("report_forty", [built("report")], ["-n", "2e7", "-r", "3", "-l", "40"]),
    Benchmark("report_kernels", [built("report")],
              ["-n", "4e6", "-r", "3", "-l", "4", "-d", "31", "-s", "1e6"]),
    Benchmark("chrome", [built("chrome")]),
    Benchmark("verbs", [built("report"), REPORT], [], ["verbs.py"]),
    Benchmark("info", [built("report"), REPORT], [], ["info.py"]),
    Benchmark("log_size", [PIPELINE], ["--requests", "400"], ["log_size.py"]),
    Benchmark("pipeline_cost", [PIPELINE],
              ["--rounds", "12", "--requests", "20", "--ways", "everything"], ["pipeline_cost.py"]),
    Benchmark("peers", [built("peers"), REPORT], ["100"], ["peers.py"], ["lttng", "babeltrace2"]),
]

REPORTS = {"report", "report_one", "report_forty", "report_kernels", "verbs", "chrome", "info"}

# What a command line does not name, though the program takes it from BIN.
LOADED = {"markers_shared": [LIBRARY]}


def missing(benchmark, folder):
    """Why it cannot run here; "" when it can."""
    for file in benchmark.files:
        if not os.path.exists(os.path.join(folder, file)):
            return f"{os.path.join(folder, file)} is not there"
    for script in benchmark.scripts:
        if not os.path.exists(os.path.join(HERE, script)):
            return f"{os.path.join(HERE, script)} is not there"
    for tool in benchmark.tools:
        if not shutil.which(tool):
            return f"{tool} is not on this machine"
    return ""


def command_of(benchmark, folder):
    named = [file for file in benchmark.files if file not in LOADED.get(benchmark.name, ())]
    scripts = [os.path.join(HERE, script) for script in benchmark.scripts]
    return [*[sys.executable] * len(scripts), *scripts,
            *[os.path.join(folder, file) for file in named], *benchmark.arguments]


def run(benchmark, folder, scratch):
    """The rows that it printed, and whether it ended well."""
    print(f"== {benchmark.name}\n", flush=True)
    path = os.pathsep.join(filter(None, [folder, os.environ.get("LD_LIBRARY_PATH")]))
    process = subprocess.Popen(command_of(benchmark, folder), stdout=subprocess.PIPE, text=True,
                               cwd=scratch, env=dict(os.environ, LD_LIBRARY_PATH=path))
    rows = []
    for line in process.stdout:
        if line.startswith("row\t"):
            rows.append(line.rstrip("\n").split("\t")[1:])
        else:
            print(line, end="", flush=True)
    print(flush=True)
    return rows, process.wait() == 0


def judge(figure, bound):
    """Of a row: its bound in words, and whether it is met. A negative bound is the least."""
    if bound == 0:
        return "", ""
    if bound < 0:
        return f">= {-bound:g}", "yes" if figure >= -bound else "NO"
    return f"<= {bound:g}", "yes" if figure <= bound else "NO"


def print_table(rows):
    cells = [("", "figure", "unit", "bound", "met")]
    for what, figure, unit, bound in rows:
        cells.append((what, figure, unit, *judge(float(figure), float(bound))))
    widths = [max(len(row[i]) for row in cells) for i in range(5)]
    for i, row in enumerate(cells):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        if i == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return (f"{model}, {len(os.sched_getaffinity(0))} CPUs, {platform.machine()} "
            f"{platform.release()}, load {os.getloadavg()[0]:.1f}")


def print_tables(rows):
    for title, is_report in (("Markers, from the marker to the disk", False), ("Reports", True)):
        own = [row for name, row in rows if (name in REPORTS) == is_report]
        if own:
            print(f"{title}: {machine()}\n")
            print_table(own)
            print()


def run_all(benchmarks, folder):
    rows, said, failed = [], [], False
    with tempfile.TemporaryDirectory() as scratch:
        for benchmark in benchmarks:
            reason = missing(benchmark, folder)
            if reason:
                said.append(f"{benchmark.name}: left out, {reason}")
                continue
            printed, ended_well = run(benchmark, folder, scratch)
            rows += [(benchmark.name, row) for row in printed]
            if not ended_well:
                failed = True
                said.append(f"{benchmark.name}: did not end well, see above")
    print_tables(rows)
    if said:
        print("\n".join(said))
    return failed or not rows


def print_list(benchmarks):
    for benchmark in benchmarks:
        print(benchmark.name + ":", *benchmark.files, *benchmark.scripts)


def main():
    names = [benchmark.name for benchmark in BENCHMARKS]
    parser = argparse.ArgumentParser(usage="table.py BIN [--only NAME]... [--list]",
                                     description=__doc__.split("\n\n")[1])
    parser.add_argument("folder", metavar="BIN", nargs="?")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME",
                        help="this one: " + ", ".join(names))
    parser.add_argument("--list", action="store_true",
                        help="print what each one needs: programs in BIN, scripts beside this one")
    arguments = parser.parse_args()
    chosen = [b for b in BENCHMARKS if not arguments.only or b.name in arguments.only]
    if arguments.list:
        print_list(chosen)
    elif arguments.folder:
        sys.exit(run_all(chosen, os.path.abspath(arguments.folder)))
    else:
        parser.error("BIN is missing")


if __name__ == "__main__":
    main()
