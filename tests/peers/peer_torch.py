# SPDX-License-Identifier: Apache-2.0
"""PyTorch: key_averages() to the ns, and its printed table, against ours of the trace it wrote."""
import collections
import json
import re

import common

PACKAGES = ["torch==2.13.0", "numpy"]
COLUMNS = ("calls", "self_cpu", "cpu_total")
KEYS = ("cpu_time", "cpu_time_total", "self_cpu_time_total", "count")
HEADINGS = ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls")
MEMORY = "memory has a table of its own, not columns here"
HALVES = "an average that ends in half a unit falls to either side"
TIES = "rows of equal time stand by name"


def compare(peer):
    peer.run("torch_program.py", OMP_NUM_THREADS="1")
    rows = [compare_rows(peer, "rows.json", "key_averages(): each row, to the ns"),
            compare_rows(peer, "shapes.json", "group_by_input_shape: each row, to the ns",
                         "--group-by", "shape")]
    rows.append(compare_tables(peer))
    rows.append(common.compare_schedules(peer, "torch"))
    rows.append(compare_ranks(peer))
    return [(peer.version("torch"), row) for row in rows]


def compare_rows(peer, rows, compared, *options):
    row = common.Row(compared)
    with open(peer.path(rows), encoding="utf-8") as file:
        theirs = {name: figures for name, *figures in json.load(file)}
    ours = collections.defaultdict(lambda: [0, 0, 0])
    for cells in peer.rows("torch", "--style", "torch", "--top", "0", *options, "trace.json"):
        for at, column in enumerate(COLUMNS):
            ours[cells["name"]][at] += cells[column] or 0
    for name in sorted(set(theirs) | set(ours)):
        for at, column in enumerate(COLUMNS):
            row.cell(f"{name}: {column}", theirs.get(name, [None] * 3)[at],
                     ours[name][at] if name in ours else None)
    return row


def union(spans):
    """The time that any of them covers."""
    covered, last = 0, None
    for start, end in sorted(spans):
        if last is None or end > last:
            covered += end - (start if last is None else max(start, last))
            last = end
    return covered


def compare_ranks(peer):
    """Two ranks with gloo. HTA's breakdown is of kernels, of which there are none."""
    row = common.Row("two ranks with gloo: calls and time of communication, union of its ranges "
                     "within the steps")
    peer.run("gloo_program.py")
    for rank in range(2):
        trace = f"rank{rank}.json"
        spans, steps = [], []
        for event in common.load(peer.path(trace)):
            name = event.get("name", "")
            if event.get("ph") == "X":
                span = common.ns(event["ts"]), common.end_of(event)
                if name.startswith(("c10d::", "gloo:", "record_param_comms")):
                    spans.append(span)
                elif name.startswith("ProfilerStep#"):
                    steps.append(span)
        cells = {line["name"]: line for line in
                 peer.rows("distributed", "--view", "distributed", trace) if line["part"] == "all"}
        row.cell(f"{trace}: calls", len(spans), cells["Communication"]["calls"])
        row.cell(f"{trace}: communication", union(spans), cells["Communication"]["time"])
        row.cell(f"{trace}: steps", union(steps), cells["ProfileStep"]["time"])
    return row


def table_of(text):
    """The rows of a printed table, cells by heading, in order."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if "# of Calls" in line)
    edges = [match.span() for match in re.finditer("-+", lines[at - 1])]
    headings = [lines[at][a:b].strip() for a, b in edges]
    rows = []
    for line in lines[at + 2:]:
        if line.startswith("---"):
            return rows, [line for line in lines if line.startswith("Self CPU time total")]
        rows.append(dict(zip(headings, (line[a:b].strip() for a, b in edges))))
    raise ValueError("a table without an end")


def compare_tables(peer):
    row = common.Row("the printed table, in four orders: each cell, and the order")
    for key in KEYS:
        with open(peer.path(key + ".txt"), encoding="utf-8") as file:
            theirs, footer = table_of(file.read())
        ours, our_footer = table_of(peer.report("--style", "torch", "--sort", key, "--top", "0",
                                                "trace.json"))
        row.cell(f"{key}: footer", footer, our_footer)
        left = collections.defaultdict(list)
        for cells in ours:
            left[cells["Name"]].append(cells)
        for at, cells in enumerate(theirs):
            found = left[cells["Name"]].pop(0) if left[cells["Name"]] else {}
            for heading, cell in cells.items():
                row.cell(f"{key} {cells['Name']} {heading}", cell, found.get(heading),
                         reason_of(heading, cell, found.get(heading)))
            other = ours[at] if at < len(ours) else {}
            row.cell(f"{key}: row {at}", cells["Name"], other.get("Name"),
                     TIES if equal_but_for_names(cells, other) else None)
    return row


def reason_of(heading, theirs, ours):
    if heading not in HEADINGS:
        return MEMORY if heading != "Name" else None
    if heading == "CPU time avg" and ours and theirs[-2:] == ours[-2:] and \
            abs(float(theirs[:-2]) - float(ours[:-2])) < 0.0011:
        return HALVES
    return None


def equal_but_for_names(cells, other):
    """Whether two rows have one time at least in common that could have ordered them."""
    return any(cells[heading] == other.get(heading) for heading in HEADINGS)
