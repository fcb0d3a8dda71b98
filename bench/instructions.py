#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts instructions, of every marker and of a report for each range of its
log, and compares them with budget.txt.

instructions.py [--write] [--plain PLAIN] [REPORT]: run in the tree's root. The
library and the program that is counted (instructions.c) are compiled here,
optimised, so that the figures do not depend on how the tree around them was
built. REPORT is the optimised bench/report, PLAIN the one that is not: the rows
of those named alone are counted; --write needs both, counts all, and makes the
budget of them:

  bazel build //bench:report //bench:report_optimised
  bench/instructions.py --write --plain bazel-bin/bench/report \
    bazel-bin/bench/report_optimised.bin

A marker may take 2 % more or less than its budget, a report 5 %.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUDGET = "bench/budget.txt"
# A report's depends on libraries of the system as well, which inflate and copy.
TOLERANCE = {"report": 0.05, "report_start": 0.05, "report_plain": 0.05}
MARKER_TOLERANCE = 0.02
HEADER = """\
# Instructions a marker or pair takes, its call and its loop included, by how
# the library is linked; and that a report takes for a range of its log:
# report_start of the first 100 000 and all that is done once, report of the
# next 262 144, report_plain of the first 50 000 and not optimised. Else gcc -O2,
# x86-64. bench/instructions.py --write makes this file, and tests compare.
"""
OPTIONS = ["-O2", "-std=c11", "-D_GNU_SOURCE", "-fvisibility=hidden",
           "-Isdk/include", "-iquotesdk/src", "-iquotesdk/nvtx"]
SYSTEM = ["-lm", "-lpthread", "-ldl", "-lrt"]
PROGRAM = "bench/instructions.c"
# What makes bench/report's logs.
LOGS = {"one_thread": ["-l", "1"], "8_threads": ["-l", "8"],
        "requests": ["-l", "8", "-q", "125"],
        "kernels": ["-l", "4", "-d", "31", "-s", "1e6"]}
# They differ by what lies between two checkpoints.
SIZES = ("100000", "362144")
PLAIN_SIZE = "50000"


def gcc(*arguments):
    subprocess.run(["gcc", *OPTIONS, *arguments, *SYSTEM], check=True)


def build(linkage, folder):
    """Answers a program of this linkage."""
    sources = sorted(glob.glob("sdk/src/**/*.c", recursive=True))
    program = os.path.join(folder, linkage)
    if linkage == "lto":
        gcc("-flto", "-w", "-o", program, PROGRAM, *sources)
        return program
    library = os.path.join(folder, "libpprof.so.0")
    gcc("-fPIC", "-shared", "-o", library,
        "-Wl,--version-script=sdk/libpprof.lds", "-Wl,-soname,libpprof.so.0",
        *sources)
    gcc("-o", program, PROGRAM, library, "-Wl,-rpath," + folder)
    return program


def count(program):
    """Answers the instructions by marker: the fewest of seven, because a
    range's depend on when the collector frees its place, and that on how busy
    the machine is."""
    counts = []
    for _ in range(7):
        lines = subprocess.run([program], check=True, capture_output=True,
                               text=True).stdout.split("\n")
        counts.append({name: float(number) for name, number in
                       (line.split() for line in lines if line)})
    return {name: min(run[name] for run in counts)
            for name in counts[0]}


def count_report(program, folder, name, size):
    """Answers the events of a log, and the instructions of its report."""
    log = os.path.join(folder, name + size)
    subprocess.run([program, "-n", size, *LOGS[name], "-w", log], check=True,
                   stdout=subprocess.DEVNULL)
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
         program, "-f", log], check=True, capture_output=True, text=True)
    return int(run.stdout), int(
        re.search(r"Collected : (\d+)", run.stderr).group(1))


def count_reports(program, folder):
    """Answers instructions for an event, by log."""
    counts = {}
    for name in LOGS:
        (events, least), (more_events, most) = (
            count_report(program, folder, name, size) for size in SIZES)
        counts["report_start", name] = least / events
        counts["report", name] = (most - least) / (more_events - events)
    return counts


def count_plain(program, folder):
    """The same of a program that is not optimised, which every build has."""
    counts = {}
    for name in LOGS:
        events, number = count_report(program, folder, name, PLAIN_SIZE)
        counts["report_plain", name] = number / events
    return counts


def read_budget():
    budget = {}
    with open(BUDGET, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                linkage, name, number = line.split()
                budget[linkage, name] = float(number)
    return budget


def write_budget(counted):
    with open(BUDGET, "w", encoding="utf-8") as file:
        file.write(HEADER)
        for (linkage, name), number in counted.items():
            file.write("%s %s %.1f\n" % (linkage, name, number))


def compare(counted, budget):
    """Prints what differs; answers whether anything does."""
    wrong = False
    for key in sorted(counted.keys() | budget.keys()):
        number, allowed = counted.get(key), budget.get(key)
        if number is None or allowed is None:
            print("%s %s: counted %s, budget %s" % (*key, number, allowed))
            wrong = True
        # Half an instruction: what a marker now and then takes more.
        elif abs(number - allowed) > 0.5 + allowed * TOLERANCE.get(
                key[0], MARKER_TOLERANCE):
            print("%s %s: %.1f instructions, the budget is %.1f" %
                  (*key, number, allowed))
            wrong = True
    if wrong:
        print("if it has to be so, write the budget: bench/instructions.py --help")
    return wrong


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true",
                        help="needs PLAIN and REPORT")
    parser.add_argument("--plain", metavar="PLAIN")
    parser.add_argument("report", metavar="REPORT", nargs="?")
    arguments = parser.parse_args()
    if arguments.write and not (arguments.report and arguments.plain):
        parser.error("--write counts all rows: name PLAIN and REPORT")
    if os.uname().machine != "x86_64":
        print("the budget is one for x86-64")
        return 0
    if not shutil.which("valgrind"):
        print("valgrind is missing: ./dev need valgrind")
        return 1
    counted = {}
    with tempfile.TemporaryDirectory() as folder:
        if arguments.write or not (arguments.report or arguments.plain):
            for linkage in ("shared", "lto"):
                for name, number in count(build(linkage, folder)).items():
                    counted[linkage, name] = number
        if arguments.report:
            counted |= count_reports(os.path.abspath(arguments.report), folder)
        if arguments.plain:
            counted |= count_plain(os.path.abspath(arguments.plain), folder)
    if arguments.write:
        write_budget(counted)
        return 0
    groups = {group for group, name in counted}
    budget = {key: number for key, number in read_budget().items()
              if key[0] in groups}
    return 1 if compare(counted, budget) else 0


if __name__ == "__main__":
    sys.exit(main())
