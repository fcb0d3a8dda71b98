#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py BIN: runs the benchmarks that were built into BIN and prints their figures and bounds as
one table. What each of them prints besides stands above it. Exits 1 when a benchmark did not end
well; a bound that is not met is said, no error: machines differ."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def programs(folder):
    """Name, command."""
    def built(*path):
        return os.path.join(folder, *path)

    def script(name):
        return [sys.executable, os.path.join(HERE, name)]

    tool = built("tools", "pprof-report")
    bench = built("bench")
    return [
        ("markers, static", [built("bench", "markers"), "200"]),
        ("NVTX", [built("bench", "nvtx"), built("libpprof.so.0"),
                  built("sdk", "nvtx", "libpprof_nvtx.so"), os.path.join(bench, "nvtx_empty.so"),
                  "100"]),
        ("report", [built("bench", "report"), "-n", "2e7", "-r", "3"]),
        ("peers", script("peers.py") + [built("bench", "peers"), tool, "100"]),
        ("whole program", script("pipeline_cost.py")
         + ["--rounds", "9", built("examples", "pipeline")]),
    ]


def run(name, command, folder):
    """The rows that it printed, and whether it ended well."""
    print(f"== {name}\n", flush=True)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder)
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


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py BIN")
    rows, failed = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, command in programs(os.path.abspath(sys.argv[1])):
            printed, ended_well = run(name, command, folder)
            rows += printed
            if not ended_well:
                failed.append(name)
    print_table(rows)
    for name in failed:
        print(f"\n{name}: did not end well, see above")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
