# SPDX-License-Identifier: Apache-2.0
"""PaddlePaddle: every cell that its profiler prints, against ours of the trace that it wrote."""
import collections
import itertools
import json
import re

import common
import peer_bugs
import peer_twin

PACKAGES = ["paddlepaddle==3.3.1", "setuptools"]
KEYS = {"CPUTotal": "cpu-total", "CPUAvg": "cpu-avg", "CPUMax": "cpu-max", "CPUMin": "cpu-min",
        "GPUTotal": "gpu-total", "GPUAvg": "gpu-avg", "GPUMax": "gpu-max", "GPUMin": "gpu-min"}
UNITS = ("s", "ms", "us", "ns")
SLACK = 20  # ns
LAST_DECIMAL = 0.01
NEAR = 0.02
CPP_RANGES = ("backward", "pybind_imperative_func", "pybind_patch_func")
PHASES = ("Dataloader", "Forward", "Backward", "Optimization")
COLUMNS = ("allocation_count", "free_count", "allocation_size", "free_size")
TITLE = re.compile(r"^-+((?:\w+ )*\w*Summary(?: - Place\(.*\))?)-+\s*$")
BANNER = re.compile(r"^-*(Thread: .*?)-+\s*$")
RULE = re.compile(r"^-+(  -+)+\s*$")


def split(line, edges):
    return [line[a:b].rstrip() for a, b in edges]


def edges_of(rule):
    found = [match.span() for match in re.finditer("-+", rule)]
    return [(a, b + 2) for a, b in found[:-1]] + [(found[-1][0], 10**6)]


def tables_of(text):
    """{table: [(key, {column: cell})]}; a row's key is thread, path of names, and which of these."""
    tables, table, edges, heads, path, thread, seen = {}, None, None, None, [], "", None
    for line in text.splitlines():
        title = TITLE.match(line)
        if title:
            table, edges, heads, path, thread = tables.setdefault(title[1], []), None, None, [], ""
            seen = collections.Counter()
        elif table is None or line.startswith("Time unit") or not line.strip():
            continue
        elif line.startswith(("Note:", "Kernel Summary:", "Perf Summary:", "Trust:")):
            table = None
        elif line.startswith("Peak "):
            name, value = line.split(": ")
            table.append((("", (name,), 0), {"value": value.strip()}))
        elif RULE.match(line):
            edges = edges_of(line)
        elif BANNER.match(line):
            thread = BANNER.match(line)[1]
        elif edges:
            cells = split(line, edges)
            if cells[0].strip() in ("Name", "Event Type", "Device") or not cells[0]:
                heads = [cell.strip() for cell in cells]
                continue
            level = (len(cells[0]) - len(cells[0].lstrip())) // 2
            path = path[:level] + [cells[0].strip()]
            if "Overview" in title_of(tables, table) or "Model" in title_of(tables, table):
                path = path[-1:]
            key = (thread, tuple(path))
            table.append((key + (seen[key],), dict(zip(heads[1:], map(str.strip, cells[1:])))))
            seen[key] += 1
    return tables


def title_of(tables, table):
    return next(name for name, rows in tables.items() if rows is table)


WHOLE_PHASES = "Calls of Overview count all ranges, as its time is of all"
PEAKS = "Paddle's peaks are of the process, ours of what was recorded"
STEPS = "steps are one name"
PARTS = "an operator's row has what its parts allocate, too"
MICROSECONDS = "the trace says in whole microseconds when memory was taken or given back"
NO_OWNER = "what no range is around has a row"
NO_FLOPS = "FLOPs that nobody stated are `-`, not 0"
BOTH_KINDS = "UserDefined has C++'s ranges, too"
OFF_BY_ONE = "Paddle sums N - 9 steps and divides by N - 10"
FLOATS = "durations in the trace are floats of 24 bits"


def compare(peer):
    peer.run("paddle_program.py")
    return [(peer.version("paddlepaddle"), row)
            for row in (compare_printed(peer), compare_memory(peer), compare_perf(peer),
                        *peer_twin.compare(peer, tables_of), peer_bugs.compare(peer),
                        common.compare_schedules(peer, "paddle"))]


def compare_printed(peer):
    row = common.Row("each cell of all tables: 8 orders, 4 units, threads apart or not, parts")
    for key, unit, apart in itertools.product(KEYS, UNITS, (0, 1)):
        with open(peer.path(f"{key}.{unit}.{apart}.txt"), encoding="utf-8") as file:
            theirs = tables_of(file.read())
        options = ["--thread-sep"] if apart else []
        ours = tables_of(peer.report("--style", "paddle", "--wide", "--sort", KEYS[key], "--time-unit", unit,
                                     "--op-detail", *options, "trace.json"))
        compare_tables(row, f"{key}.{unit}.{apart}", theirs, ours)
    return row


def compare_tables(row, where, theirs, ours):
    for title, table in theirs.items():
        mine = dict(ours.get(title, []))
        for key, cells in table:
            for column, cell in cells.items():
                other = mine.get(key, {}).get(column)
                row.cell(f"{where} {title} {key} {column}", cell, other,
                         reason_of(title, key, column, cell, other))
        for key in set(mine) - {key for key, _ in table}:
            row.cell(f"{where} {title} {key}", None, mine[key],
                     reason_of(title, key, None, None, mine[key]))


def reason_of(title, key, column, theirs, ours):
    name = key[1][-1]
    if title.startswith("Memory Summary"):
        return reason_of_memory(name, column, ours)
    if title == "Overview Summary" and column == "Calls" and name in PHASES:
        return WHOLE_PHASES
    if (column, theirs, ours) == ("FLOPs", "0", "-"):
        return NO_FLOPS
    if title == "UserDefined Summary" and column is None and name.endswith(CPP_RANGES):
        return BOTH_KINDS
    slack = SLACK if name == "Others" else 0  # it is what sums of others leave
    return FLOATS if theirs and ours and are_near(theirs, ours, slack) else None


def are_near(theirs, ours, slack):
    """Whether all figures of a cell are the same but for a float's last bits, which in large ones
    show in the last decimal."""
    for a, b in zip(theirs.split(" / "), ours.split(" / ")):
        if a != b and ("-" in (a, b) or
                       abs(float(a) - float(b)) > max(slack, error_of(float(a)))):
            return False
    return True


def error_of(value):
    error = 2**-23 * abs(value)
    return error + LAST_DECIMAL if error > LAST_DECIMAL / 10 else error


def reason_of_memory(name, column, ours):
    if name.startswith("Peak "):
        return PEAKS
    if name.startswith("ProfileStep"):
        return STEPS
    if name == "<none>":
        return NO_OWNER
    if name.endswith("dygraph") or name.startswith("Global_"):
        return PARTS
    return MICROSECONDS if column != "Type" or ours is None else None


def compare_memory(peer):
    """That whole microseconds move changes between rows, and lose none."""
    row = common.Row("memory: all allocations and frees of the trace, and their bytes")
    sums = [0, 0, 0, 0]
    for event in common.load(peer.path("trace.json")):
        if event.get("name") == "[memory]":
            change = event["args"]["increase_bytes"]
            at = 0 if event["cat"] == "Allocate" else 1
            sums[at] += 1
            sums[2 + at] += abs(change)
    ours = [0, 0, 0, 0]
    for cells in peer.rows("memory", "--view", "memory", "trace.json"):
        for at, column in enumerate(COLUMNS):
            ours[at] += cells[column] if cells["name"] else 0
    for at, column in enumerate(COLUMNS):
        row.cell(column, sums[at], ours[at])
    return row


def compare_perf(peer):
    """timer_only beside our markers in one program; Paddle's own sum, which is off by one."""
    row = common.Row("timer_only: Perf Summary, beside ours of the same 60 steps")
    said = json.loads(peer.run("perf_program.py").splitlines()[-1])
    steps, theirs, ours = said["steps_s"], said["paddle"], said["ours"]
    n = len(steps)
    # Of N steps N - 9 are summed and divided by N - 10.
    wrong = sum(steps[9:]) / (n - 10)
    right = sum(steps[10:]) / (n - 10)
    near = f"within {NEAR:.0%}, by clocks of their own"
    row.cell("Paddle's average is N - 9 steps over N - 10", True, abs(theirs - wrong) < NEAR * wrong)
    row.cell("our average is of the N - 10 steps", True, abs(ours - right) < NEAR * right)
    row.cell("batch_cost avg", theirs, ours, OFF_BY_ONE + ", both " + near)
    return row
