#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""parts.py REPORT [LOG]...: the instructions a range of a report, by part, as callgrind counts them: what the
second log of instructions.py takes more than the first. REPORT has to know its lines:

  bazel build -c opt --copt=-g1 --strip=never //bench:report"""
import collections
import fnmatch
import os
import re
import subprocess
import sys
import tempfile

import instructions

# The first that fits a source file is its part; of most libraries no file is known.
PARTS = [
    ("reading and decoding blocks", ["*/log/*", "*/file/*"]),
    ("paths, stages and their sums", ["*/report/run/*", "*/report/figures/*"]),
    ("unions and lanes", ["*/report/spans/*"]),
    ("requests, memory, devices", ["*/report/parts/*"]),
    ("the answer", ["*/report/answer/*", "*/report/limit/*", "*/report/findings/*"]),
    ("the rest of the report", ["*/report/*", "*/print/*", "*/view/*"]),
]
LABELS = {"one_thread": "1 lane", "8_threads": "8 lanes"}
LIBRARIES = "sorting, the C library, libdeflate"


def part_of(path):
    for part, patterns in PARTS:
        if any(fnmatch.fnmatch(path, pattern) for pattern in patterns):
            return part
    return LIBRARIES


def count(program, log, out):
    """Events, and instructions by source file, inlined lines where they were written."""
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program,
                           "-f", log], check=True, capture_output=True, text=True)
    names, files, path, is_call = {}, collections.Counter(), "???", False
    with open(out, encoding="utf-8") as lines:
        for line in lines:
            found = re.match(r"(c?)f[lie]=(\(\d+\))(?: (.*))?", line)
            if found:
                name = names.setdefault(found[2], found[3])
                path = path if found[1] else name  # of a call, or of what follows
            elif line.startswith("calls="):
                is_call = True  # the next line is the callee's cost
            elif line[0].isdigit() or line[0] in "+-*":
                if not is_call:
                    files[path] += int(line.split()[1])
                is_call = False
    return int(done.stdout), files


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: parts.py REPORT [LOG]...")
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for name, options in instructions.LOGS.items():
            if sys.argv[2:] and name not in sys.argv[2:]:
                continue
            counts = []
            for size in instructions.SIZES:
                log = os.path.join(folder, name + size)
                subprocess.run([program, "-n", size, *options, "-w", log], check=True,
                               stdout=subprocess.DEVNULL)
                counts.append(count(program, log, os.path.join(folder, "out")))
            (events, first), (more, second) = counts
            second.subtract(first)
            if second["???"] > sum(second.values()) / 2:
                print(f"{program} does not know its lines")
                return
            parts = collections.Counter()
            for path, number in second.items():
                parts[part_of(path)] += number / (more - events)
            for part in [part for part, _ in PARTS] + [LIBRARIES]:
                print(f"row\t{LABELS.get(name, name)}: {part}\t{parts[part]:.0f}\tinstructions\t0")
            for path, number in second.most_common(25):
                print(f"{name:12} {number / (more - events):8.1f}  {path}")


if __name__ == "__main__":
    main()
