#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py BIN [--only NAME]... [--list]: runs the benchmarks that were built into BIN and prints
their figures and bounds, a table for each kind. What each of them prints besides stands above them.

BIN is `bazel info -c opt bazel-bin`, or a copy of what `--list` names of it, on a machine without
Bazel. A benchmark that lacks something is left out, with the reason. Exits 1 when one failed or
none ran. A missed bound is reported and is no error, because machines differ.

With --results FILE the rows are kept in FILE as well. table.py --page PAGE FILE... makes the tables
of PAGE of such files, a column each: they stand between `<!-- table KIND -->` and `<!-- end -->`.
Figures above their bounds are bold there."""
import argparse
import collections
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# `files` are in BIN, `scripts` beside this one, `tools` in PATH. The first script runs.
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
    Benchmark("report", [built("report")], ["-n", "8e6", "-r", "3"]),
    Benchmark("report_one", [built("report")], ["-n", "8e6", "-r", "3", "-l", "1"]),
    Benchmark("report_forty", [built("report")], ["-n", "8e6", "-r", "3", "-l", "40"]),
    Benchmark("report_kernels", [built("report")],
              ["-n", "4e6", "-r", "3", "-l", "4", "-d", "31", "-s", "1e6"]),
    Benchmark("chrome", [built("chrome")]),
    Benchmark("report_requests", [built("report")],
              ["-n", "4e6", "-r", "3", "-l", "8", "-q", "125", "-s", "4e6"]),
    Benchmark("jobs", [built("report"), REPORT], [], ["jobs.py"]),
    Benchmark("parts", [built("report")], [], ["parts.py", "instructions.py"], ["valgrind"]),
    Benchmark("verbs", [built("report"), REPORT], [], ["verbs.py"]),
    Benchmark("import", [REPORT], ["-r", "3", "--limited-mb", "0"], ["import.py"]),
    Benchmark("export", [built("report"), REPORT], [], ["export.py"]),
    Benchmark("info", [built("report"), REPORT], [], ["info.py"]),
    Benchmark("log_size", [PIPELINE], ["--requests", "400"], ["log_size.py"]),
    Benchmark("pipeline_cost", [PIPELINE],
              ["--rounds", "12", "--requests", "20", "--ways", "everything"], ["pipeline_cost.py"]),
    Benchmark("peers", [built("peers"), REPORT], ["100"], ["peers.py"], ["lttng", "babeltrace2"]),
]

# What a table is headed by, and its benchmarks; those of no other are of the first.
TABLES = {
    "markers": ("Markers", []),
    "disk": ("From the marker to the disk",
             ["writer", "flight", "log_size", "pipeline_cost"]),
    "reports": ("Reports", ["report", "report_one", "report_forty", "report_kernels",
                            "report_requests", "jobs"]),
    "parts": ("Instructions of a report, by part", ["parts"]),
    "verbs": ("Comparing, traces, imports, exports",
              ["verbs", "chrome", "info", "import", "export"]),
    "peers": ("Peers", ["peers"]),
}

# Rows of a benchmark that differ in this word alone are one line of a page.
FOLDED = {
    "markers": r"(?<=, )(?:static with LTO|static|libpprof\.so)(?= \(|$)",
    "growth": r"(?<=, )\d+(?= \w+ to 1$)",
    "jobs": r"(?<=: --jobs )\d+$",
    "writer": r"(?:zlib|libdeflate|igzip)$",
}

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
    scripts = [os.path.join(HERE, script) for script in benchmark.scripts[:1]]
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


def table_of(benchmark):
    return next((kind for kind, (_, names) in TABLES.items() if benchmark in names), "markers")


def print_tables(rows):
    for kind, (title, _) in TABLES.items():
        own = [row for name, row in rows if table_of(name) == kind]
        if own:
            print(f"{title}: {machine()}\n")
            print_table(own)
            print()


def write_results(path, rows):
    with open(path, "w", encoding="utf-8") as out:
        print("machine", f"{machine()}, {time.strftime('%Y-%m-%d')}", sep="\t", file=out)
        for name, row in rows:
            print(name, *row, sep="\t", file=out)


class Row:
    """A line of a page's table, of one file: its cells by the word that differs."""

    def __init__(self, unit):
        self.unit, self.cells, self.bounds = unit, {}, []

    def add(self, word, is_second, figure, bound):
        words, met = judge(float(figure), float(bound))
        text = f"**{figure}**" if met == "NO" else figure
        self.cells[word] = f"{self.cells[word]} ({text})" if is_second else text
        self.bounds.append(words)


def name_of(benchmark, what):
    """What stands before and behind the word in which rows of one line differ, that word, and
    whether the row is that of two threads, which stands in brackets behind one's."""
    one = re.sub(r", (?:1 thread|2 threads)$", " (2 threads)", what)
    pattern = next((p for name, p in FOLDED.items() if benchmark.startswith(name)), None)
    found = re.search(pattern, one) if pattern else None
    if not found:
        return (one, ""), "", what.endswith(", 2 threads")
    return (one[:found.start()], one[found.end():]), found[0], what.endswith(", 2 threads")


def read_results(path):
    """The rows of a file by kind of table and name."""
    tables = {kind: {} for kind in TABLES}
    with open(path, encoding="utf-8") as file:
        next(file)  # the machine
        for line in file:
            benchmark, what, figure, unit, bound = line.rstrip("\n").split("\t")
            name, word, is_second = name_of(benchmark, what)
            row = tables[table_of(benchmark)].setdefault(name, Row(unit))
            row.add(word, is_second, figure, bound)
    return tables


def parts_table(results):
    """Instructions are the same on each machine: a column for each log, which rows begin with."""
    rows = {}
    for _, tables in results:
        for (what, _), row in tables["parts"].items():
            log, part = what.split(": ", 1)
            rows.setdefault(part, {})[log] = row.cells[""]
    logs = list(dict.fromkeys(log for cells in rows.values() for log in cells))
    lines = ["| | " + " | ".join(logs) + " |", "|---|" + "---|" * len(logs)]
    lines += [f"| {part} | " + " | ".join(cells.get(log, "") for log in logs) + " |"
              for part, cells in rows.items()]
    return "\n".join(lines) + "\n"


def page_table(kind, results):
    if kind == "parts":
        return parts_table(results)
    columns = [tables[kind] for _, tables in results]
    lines = ["| | bound | " + " | ".join(name for name, _ in results) + " |",
             "|---|---|" + "---|" * len(results)]
    for name in dict.fromkeys(name for column in columns for name in column):
        rows = [column.get(name, Row("")) for column in columns]
        words = dict.fromkeys(word for row in rows for word in row.cells)
        bounds = dict.fromkeys(bound for row in rows for bound in row.bounds if bound)
        cells = ["; ".join(row.cells.get(word, "-") for word in words) if row.cells else ""
                 for row in rows]
        unit = next(row.unit for row in rows if row.unit)
        lines.append(f"| {name[0]}{'; '.join(words)}{name[1]}, {unit} | {', '.join(bounds)} | "
                     + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def make_page(path, files):
    """The page with the tables of these results, each a column that its file is the name of."""
    results = [(os.path.splitext(os.path.basename(file))[0], read_results(file)) for file in files]
    with open(path, encoding="utf-8") as file:
        return re.sub(r"(<!-- table (\w+) -->\n)(?:.*\n)*?(<!-- end -->)",
                      lambda found: found[1] + page_table(found[2], results) + found[3],
                      file.read())


def run_all(benchmarks, folder, results):
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
    if results:
        write_results(results, rows)
    if said:
        print("\n".join(said))
    return failed or not rows


def print_list(benchmarks):
    for benchmark in benchmarks:
        print(benchmark.name + ":", *benchmark.files, *benchmark.scripts)


def main():
    names = [benchmark.name for benchmark in BENCHMARKS]
    parser = argparse.ArgumentParser(
        usage="table.py BIN [--only NAME]... [--results FILE] [--list], or --page PAGE FILE...",
        description=__doc__.split("\n\n")[1])
    parser.add_argument("folder", metavar="BIN", nargs="?")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME",
                        help="this one: " + ", ".join(names))
    parser.add_argument("--results", metavar="FILE", help="keep the rows in FILE")
    parser.add_argument("--page", nargs="+", metavar="FILE",
                        help="a page and results: write its tables")
    parser.add_argument("--list", action="store_true",
                        help="print what each one needs: programs in BIN, scripts beside this one")
    arguments = parser.parse_args()
    chosen = [b for b in BENCHMARKS if not arguments.only or b.name in arguments.only]
    if arguments.list:
        print_list(chosen)
    elif arguments.page:
        page = make_page(arguments.page[0], arguments.page[1:])
        with open(arguments.page[0], "w", encoding="utf-8") as out:
            out.write(page)
    elif arguments.folder:
        results = arguments.results and os.path.abspath(arguments.results)
        sys.exit(run_all(chosen, os.path.abspath(arguments.folder), results))
    else:
        parser.error("BIN is missing")


if __name__ == "__main__":
    main()
