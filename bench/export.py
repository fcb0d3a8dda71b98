#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export.py REPORT TOOL [RANGES [REPETITIONS]]: CPU time and resident memory of `pprof-report export`
into SQLite, and into Parquet where DuckDB is (PPROF_DUCKDB), for a log of eight lanes that the program
`report` writes; beside them sqlite3's shell, which reads the same table from CSV. Medians, in turns."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

IMPORT = "CREATE TABLE host_range({columns});\n.import --csv {csv} host_range\n"


def run(*command, text=None):
    """CPU seconds, and the most MB that were resident."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          text=True) as child:
        if text:
            child.stdin.write(text)
        child.stdin.close()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"export.py: {' '.join(command)}: ended with {child.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def shell(database, *commands):
    return subprocess.run(["sqlite3", database, *commands], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def row(what, figure, unit, bound):
    print(f"row\t{what}\t{figure:.4g}\t{unit}\t{bound:g}", flush=True)


def main():
    if not 3 <= len(sys.argv) <= 5:
        sys.exit("usage: export.py REPORT TOOL [RANGES [REPETITIONS]]")
    report, tool = sys.argv[1:3]
    ranges, repetitions = (sys.argv[3:] + ["1e6", "3"][len(sys.argv) - 3:])
    number, repetitions = float(ranges), int(repetitions)
    with tempfile.TemporaryDirectory() as folder:
        log, csv, theirs = (os.path.join(folder, name) for name in
                            ("export.pplog", "host_range.csv", "theirs.sqlite"))
        ours = os.path.join(folder, "ours.sqlite")
        subprocess.run([report, "-n", ranges, "-s", ranges, "-l", "8", "-w", log],
                       stdout=subprocess.DEVNULL, check=True)
        own, shells = [], []
        for i in range(repetitions):
            own.append(run(tool, "export", "sqlite", "--force", "-o", ours, log))
            if not shutil.which("sqlite3"):
                continue
            if i == 0:
                columns = ",".join(line.split("|")[1] + " " + line.split("|")[2] for line in
                                   shell(ours, "PRAGMA table_info(host_range)").split("\n") if line)
                shell(ours, ".mode csv", f".output {csv}", "SELECT * FROM host_range")
            if os.path.exists(theirs):
                os.unlink(theirs)
            shells.append(run("sqlite3", theirs, text=IMPORT.format(columns=columns, csv=csv)))
        cpu, memory = (statistics.median(column) for column in zip(*own))
        row("export sqlite", number / cpu / 1e6, "million rows/s", -0.5)
        row("export sqlite: resident", memory, "MB", 0)
        if shells:
            taken = statistics.median(one[0] for one in shells)
            row("sqlite3 .import of the same table as CSV", number / taken / 1e6,
                "million rows/s", 0)
        if os.environ.get("PPROF_DUCKDB"):
            cpu, memory = (statistics.median(column) for column in zip(*[
                run(tool, "export", "parquet", "--force", "-o", os.path.join(folder, "ranks"), log)
                for _ in range(repetitions)]))
            row("export parquet, ranges", number / cpu / 1e6, "million/s", 0)
            row("export parquet: resident", memory, "MB", 0)


if __name__ == "__main__":
    main()
