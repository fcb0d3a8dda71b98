#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fleet_scale.py TOOLS WORK STEPS RANKS...: the table of docs/sql.md. A fleet of made logs grows
in WORK to RANKS, one after the other; at each size, what exports and questions take. TOOLS has
make_ranks, pprof-report and libduckdb.so, or that compressed, libduckdb.so.gz."""
import gzip
import os
import shutil
import subprocess
import sys
import time

SEED, PLANTED = "1", "7 forward 50 130 333 load 60 120".split()
P99 = ("SELECT rank, name, CAST(PERCENTILE_DISC(0.99) WITHIN GROUP (ORDER BY length_ns) AS BIGINT)"
       " AS p99_ns FROM call GROUP BY rank, name ORDER BY rank, name")
VIEWS = "stragglers imbalance tail clocks ranks".split()


class Used:
    """CPU seconds, and the most MB that one process had."""

    def __init__(self):
        self.cpu, self.most = 0.0, 0.0

    def wait(self, child):
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"fleet_scale.py: {child.args[:4]}: ended with {child.returncode}")
        self.cpu += used.ru_utime + used.ru_stime
        self.most = max(self.most, used.ru_maxrss * 1024 / 1e6)


def run(commands):
    """All at once: elapsed seconds, CPU seconds, most MB."""
    used, begin = Used(), time.monotonic()
    children = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for command in commands]
    for child in children:
        used.wait(child)
    return time.monotonic() - begin, used.cpu, used.most


def row(what, ranks, elapsed, cpu, most):
    print(f"| {what} | {ranks} | {cpu:.1f} s | {cpu * 1e3 / ranks:.2f} ms | {elapsed:.1f} s |"
          f" {most:.0f} MB |", flush=True)


def size_of(folder):
    """Files, MB in them, and MB in blocks of the disk."""
    number = held = blocks = 0
    for where, _, names in os.walk(folder):
        for name in names:
            found = os.stat(os.path.join(where, name))
            number, held, blocks = number + 1, held + found.st_size, blocks + found.st_blocks * 512
    return f"{number} files, {held / 1e6:.0f} MB, {blocks / 1e6:.0f} MB in blocks"


def parts(first, end, number):
    """[first, end) in about equal parts."""
    edges = [first + (end - first) * at // number for at in range(number + 1)]
    return [(low, high) for low, high in zip(edges, edges[1:]) if low < high]


def grow(tools, logs, fleet, steps, sizes, at):
    """The ranks that this size adds: all processors make logs, then export them."""
    first, end, most = (sizes[at - 1] if at else 0), sizes[at], sizes[-1]
    of = parts(first, end, os.cpu_count())
    made = run([[f"{tools}/make_ranks", logs, f"{most}:{low}:{high}", steps, SEED, *PLANTED]
                for low, high in of])
    row(f"make_ranks, {len(of)} at once", end - first, *made)
    done = run([[f"{tools}/pprof-report", "export", "parquet", "-o", fleet,
                 *(f"{logs}/rank-{rank}.pplog" for rank in range(low, high))] for low, high in of])
    row(f"`export parquet`, {len(of)} at once", end - first, *done)


def main():
    tools, work, steps = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    sizes = [int(text) for text in sys.argv[4:]]
    logs, fleet, library = f"{work}/logs", f"{work}/fleet", f"{tools}/libduckdb.so"
    os.makedirs(logs)
    if not os.path.exists(library):
        library = f"{work}/libduckdb.so"
        with gzip.open(f"{tools}/libduckdb.so.gz") as packed, open(library, "wb") as file:
            shutil.copyfileobj(packed, file)
    os.environ["PPROF_DUCKDB"] = library
    print(f"{steps} steps, {os.cpu_count()} processors\n\n| | ranks | CPU time | the same a rank |"
          " time | memory |\n|---|---|---|---|---|---|")
    for at, size in enumerate(sizes):
        grow(tools, logs, fleet, steps, sizes, at)
        ask = [f"{tools}/pprof-report", "fleet", fleet]
        row("p99 by rank and stage", size, *run([ask + ["--", P99]]))
        for view in VIEWS:
            row(f"`--view {view}`", size, *run([ask + ["--view", view]]))
    told = subprocess.run(ask + ["--view", "stragglers", "-f", "csv"], stdout=subprocess.PIPE,
                          check=True).stdout.decode()
    print(f"\nlogs: {size_of(logs)}\nParquet: {size_of(fleet)}\n{told}")


main()
