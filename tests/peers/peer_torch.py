# SPDX-License-Identifier: Apache-2.0
"""PyTorch: key_averages() to the ns, and its printed table, against ours of the trace it wrote."""
import collections
import json
import re

import common

PACKAGES = ["torch==2.13.0", "numpy"]
COLUMNS = ("calls", "self_cpu", "cpu_total", "cpu_memory", "self_cpu_memory")
KEYS = {"cpu_time": "CPU time avg", "cpu_time_total": "CPU total",
        "self_cpu_time_total": "Self CPU", "count": "# of Calls", "cpu_memory_usage": "CPU Mem",
        "self_cpu_memory_usage": "Self CPU Mem"}
STACKS = {"training": (0, 1, 5), "threads": (2,), "compiled": (3,), "async": (1,)}
NEGATIVE = "torch takes away twice what two ranges that overlap have in common, and may go below 0"
FOLDED = "torch folds a single child of its parent's name into it"
ASYNC = "the trace does not say that a range ended on another thread, so it nests"
HALVES = "an average that ends in half a unit falls to either side"
TIES = "rows that are equal by what orders them stand by name"


def compare(peer):
    peer.run("torch_program.py", OMP_NUM_THREADS="1")
    rows = [compare_rows(peer, "rows.json", "key_averages(): each row, to the ns"),
            compare_rows(peer, "shapes.json", "group_by_input_shape: each row, to the ns",
                         "--group-by", "shape")]
    rows.append(compare_tables(peer))
    peer.run("torch_stack_program.py", OMP_NUM_THREADS="1")
    rows += [compare_stacks(peer, name) for name in STACKS]
    rows.append(compare_links(peer))
    rows.append(common.compare_schedules(peer, "torch"))
    rows.append(compare_ranks(peer))
    return [(peer.version("torch"), row) for row in rows]


def sums(rows):
    """Figures by name: torch and we have rows of one name apart by different things."""
    found = collections.defaultdict(lambda: [0] * len(COLUMNS))
    for name, *figures in rows:
        found[name] = [a + (b or 0) for a, b in zip(found[name], figures)]
    return found


def add_rows(row, peer, rows, trace, *options, **how):
    """Adds cells to `row`; `reason_of` tells why those of a column differ, by both rows."""
    reason_of = how.get("reason_of", lambda *rows: None)
    with open(peer.path(rows), encoding="utf-8") as file:
        theirs = sums(json.load(file))
    ours = sums([cells["name"], *(cells[column] for column in COLUMNS)] for cells in
                peer.rows("torch", "--style", "torch", "--top", "0", *options, trace))
    for name in sorted(set(theirs) | set(ours)):
        for at, column in enumerate(COLUMNS):
            both = [found[name] if name in found else [None] * len(COLUMNS)
                    for found in (theirs, ours)]
            row.cell(f"{name}: {column}", both[0][at], both[1][at], reason_of(column, *both))


def compare_rows(peer, rows, compared, *options):
    row = common.Row(compared)
    add_rows(row, peer, rows, "trace.json", *options)
    return row


def compare_stacks(peer, name):
    depths = STACKS[name]
    row = common.Row(f"group_by_stack_n={', '.join(map(str, depths))} of {name}: each row, to the ns")

    def reason_of(column, theirs, ours):
        if None in theirs + ours:
            return None
        if column == "self_cpu":
            return ASYNC if name == "async" else NEGATIVE if theirs[1] < ours[1] else None
        is_folded = theirs[0] < ours[0] and theirs[1::3] == ours[1::3]  # the same self time, memory
        return FOLDED if is_folded else None

    for depth in depths:
        add_rows(row, peer, f"{name}.rows.{depth}.json", name + ".json", "--group-by",
                 f"stack={depth}", reason_of=reason_of)
    return row


def compare_links(peer):
    """What autograd's arrows join; requests that seem cold among them."""
    row = common.Row("arrows from forward to backward: calls of each name that they join")
    with open(peer.path("links.json"), encoding="utf-8") as file:
        links = json.load(file)
    theirs = collections.Counter(name for name, _ in links)
    ours = {cells["name"]: cells["calls"] for cells in
            peer.rows("requests", "--view", "requests", "--warmup", "0", "training.json")
            if cells["category"]}
    for name in sorted(set(theirs) | set(ours)):
        row.cell(name, theirs.get(name), ours.get(name))
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
    row = common.Row("the printed table, in six orders: each cell, and the order")
    for key, ordering in KEYS.items():
        with open(peer.path(key + ".txt"), encoding="utf-8") as file:
            theirs, footer = table_of(file.read())
        ours, our_footer = table_of(peer.report("--style", "torch", "--wide", "--sort", key, "--top", "0",
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
                     TIES if cells[ordering] == other.get(ordering) else None)
    return row


def reason_of(heading, theirs, ours):
    if heading == "CPU time avg" and ours and theirs[-2:] == ours[-2:] and \
            abs(float(theirs[:-2]) - float(ours[:-2])) < 0.0011:
        return HALVES
    return None
