#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes rows of a JSON report from the Chrome trace of the same run.

demo_recompute.py REPORT.json TRACE.json[.gz] [REQUESTS.json]

Shares no code with the profiler: it reads the trace's events (nanoseconds as
decimal microseconds), unites intervals by marking borders, and compares with
the report to the nanosecond: every Overview row, every device's row, and the
Inference row of the Model table; with a report of all requests (view requests,
no warm-up) what each stage has of them, and their longest paths. Prints both
sides; exits 1 on a difference.
"""

import decimal
import gzip
import json
import re
import sys

FIRST_DEVICE_PID = 1 << 30
# A row beyond a thread's own: what it submitted, what wandered, the next rows
# of either.
OTHER_ROW = re.compile(r"^(?P<thread>.*) (?P<kind>submit|async)( \(\d+\))?$")


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_float=decimal.Decimal)


def to_ns(microseconds):
    ns = decimal.Decimal(microseconds) * 1000
    if ns != int(ns):
        sys.exit(f"not whole nanoseconds: {microseconds}")
    return int(ns)


class Slice:
    def __init__(self, event, thread, kind):
        self.name = event["name"]
        self.category = event["cat"]
        self.start = to_ns(event["ts"])
        self.end = self.start + to_ns(event["dur"])
        self.pid = event["pid"]
        self.thread = thread  # the thread's name, or None on a device
        self.kind = kind  # "thread", "async", "submit", "device"
        args = event.get("args", {})
        self.flows = tuple(args.get("flows", ()))
        self.is_cut = args.get("clipped", False)
        # Of a device's slice: how long before it its host side began.
        self.queue = args.get("queue_ns")


def slices_of(trace):
    events = trace["traceEvents"]
    rows, processes = {}, {}
    for event in events:
        if event["ph"] != "M":
            continue
        if event["name"] == "thread_name":
            rows[event["pid"], event["tid"]] = event["args"]["name"]
        elif event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
    slices = []
    for event in events:
        if event["ph"] != "X":
            continue
        if event["pid"] >= FIRST_DEVICE_PID:
            slices.append(Slice(event, None, "device"))
            continue
        row = rows[event["pid"], event["tid"]]
        other = OTHER_ROW.match(row)
        if other:
            slices.append(Slice(event, other["thread"], other["kind"]))
        else:
            slices.append(Slice(event, row, "thread"))
    return slices, processes


def union(slices):
    """The measure of what the slices cover, by counting open borders."""
    borders = []
    for one in slices:
        borders.append((one.start, 1))
        borders.append((one.end, -1))
    covered, num_open, since = 0, 0, 0
    # Where ranges touch, the next one opens before the last one closes.
    for time, step in sorted(borders, key=lambda at: (at[0], -at[1])):
        if num_open == 0:
            since = time
        num_open += step
        if num_open == 0:
            covered += time - since
    return covered


def outermost(slices):
    """Per thread, those that lie in no other one."""
    found = []
    for one in slices:
        inside = any(
            other is not one
            and other.thread == one.thread
            and other.start <= one.start
            and one.end <= other.end
            for other in slices
        )
        if not inside:
            found.append(one)
    return found


def host_side(one, submits):
    """The submission of a device slice: same name and flows, and in time."""
    candidates = submits.get((one.name, one.flows), [])
    if one.queue is not None:
        begun = one.start - one.queue
        candidates = [host for host in candidates if host.start == begun]
    if len(candidates) != 1:
        sys.exit(f"{len(candidates)} submissions of {one.name} {one.flows}")
    return candidates[0]


def submitted_in(scopes, slices):
    """Device slices whose host side began in one of `scopes`."""
    submits = {}
    for one in slices:
        if one.kind == "submit":
            submits.setdefault((one.name, one.flows), []).append(one)
    found = []
    for one in slices:
        if one.kind != "device":
            continue
        host = host_side(one, submits)
        if any(
            scope.thread == host.thread
            and scope.start <= host.start <= scope.end
            for scope in scopes
        ):
            found.append(one)
    return found


def rows_of(report, view):
    table = report["views"][view]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


class Comparison:
    def __init__(self):
        self.num_rows = self.num_wrong = 0

    def row(self, label, reported, recomputed):
        same = reported == recomputed
        self.num_rows += 1
        self.num_wrong += not same
        print(
            f"{'same' if same else 'DIFFERENT':9} {label}:"
            f" report {reported}, trace {recomputed}"
        )


def compare_overview(report, slices, out):
    kinds = {"host": ("thread", "async"), "device": ("device",)}
    seen = set()
    for row in rows_of(report, "overview"):
        part = row["part"]
        mine = [
            one
            for one in slices
            if one.kind in kinds[part] and one.category == row["event_type"]
        ]
        seen.add((row["event_type"], part))
        calls = [one for one in mine if part == "device" or not one.is_cut]
        out.row(
            f"overview {row['event_type']} {part} (calls, ns)",
            (row["calls"], row["time"]),
            (len(calls), union(mine)),
        )
    for one in slices:
        part = {"device": "device", "submit": None}.get(one.kind, "host")
        if part and (one.category, part) not in seen:
            seen.add((one.category, part))
            out.row(f"overview {one.category} {part}", None, "in the trace")


def union_within(slices, steps):
    """The measure of what both cover; without steps, of the slices."""
    if not steps:
        return union(slices)
    return union(slices) + union(steps) - union(slices + steps)


def compare_devices(report, slices, processes, out):
    steps = [
        one
        for one in slices
        if one.category == "ProfileStep" and one.kind in ("thread", "async")
    ]
    reported = {row["device"]: row for row in rows_of(report, "device")}
    for pid, name in sorted(processes.items()):
        mine = [
            one for one in slices if one.kind == "device" and one.pid == pid
        ]
        if pid >= FIRST_DEVICE_PID and (mine or name in reported):
            row = reported.get(name, {"busy": None})
            # A device with ranges but no times shows no busy time at all.
            if mine or row["busy"] is not None:
                busy = union_within(mine, steps)
                out.row(f"device {name} busy ns", row["busy"], busy)


def compare_model(report, slices, phase, out):
    for row in rows_of(report, "model"):
        if row["name"] != phase:
            continue
        scopes = outermost(
            [
                one
                for one in slices
                if one.kind == "thread" and one.category == phase
            ]
        )
        inside = submitted_in(scopes, slices)
        out.row(
            f"model {phase} (calls, host ns, device ns)",
            (row["calls"], row["cpu_total"], row["device_total"]),
            (
                len([one for one in scopes if not one.is_cut]),
                sum(one.end - one.start for one in scopes),
                sum(one.end - one.start for one in inside),
            ),
        )
        return
    out.row(f"model {phase}", None, "expected")


# The range that the demo has for each request as a whole.
WHOLE = "request"


class Part:
    """A slice that serves a request, with its submission."""

    def __init__(self, one, submits):
        self.name, self.kind = one.name, one.kind
        self.start, self.end = one.start, one.end
        host = host_side(one, submits) if one.kind == "device" else one
        self.submit = host.start
        self.row = (one.kind, one.pid, one.thread)

    def holds(self, other):
        return self.start <= other.start and other.end <= self.end


def without(span, spans):
    """What is left of (start, end) beside `spans`."""
    left, (start, end) = [], span
    for from_ns, to_ns in sorted(spans):
        if to_ns <= start or to_ns <= from_ns:
            continue
        if from_ns >= end:
            break
        if from_ns > start:
            left.append((start, from_ns))
        start = to_ns
    return left + [(start, end)] if start < end else left


def uncovered(parts):
    """The pieces of the request's own range in which nothing else goes on."""
    others = [
        (part.submit if part.kind == "device" else part.start, part.end)
        for part in parts
        if part.name != WHOLE
    ]
    return [
        piece
        for part in parts
        if part.name == WHOLE
        for piece in without((part.start, part.end), others)
    ]


def links_of(parts):
    """Outermost ranges of threads; the host's without a device's time."""
    busy = [(p.start, p.end) for p in parts if p.kind == "device"]
    links = busy + uncovered(parts)
    for part in parts:
        if part.kind != "thread" or part.name == WHOLE:
            continue
        inner = any(
            other is not part and other.row == part.row and other.holds(part)
            for other in parts
        )
        if not inner:
            links += without((part.start, part.end), busy)
    return links


def longest_path(links):
    """From the last begin to the first: a link, and the best after it."""
    best = []  # (begin, most time from there on), the latest begin first
    for start, end in sorted(links, reverse=True):
        after = max((most for begin, most in best if begin >= end), default=0)
        best.append((start, end - start + after))
    return max((most for begin, most in best), default=0)


def requests_of(slices):
    submits, found = {}, {}
    for one in slices:
        if one.kind == "submit":
            submits.setdefault((one.name, one.flows), []).append(one)
    for one in slices:
        if one.kind == "submit":
            continue
        for flow in one.flows:
            found.setdefault(flow, []).append(Part(one, submits))
    return found


def mean(values, num):
    return (2 * sum(values) + num) // (2 * num)


def compare_requests(report, slices, out):
    found = list(requests_of(slices).values())
    rows = {row["name"]: row for row in rows_of(report, "requests")}
    times = [
        max(part.end for part in parts) - min(part.submit for part in parts)
        for parts in found
    ]
    paths = [longest_path(links_of(parts)) for parts in found]
    whole = rows.pop("(request)")
    out.row(
        "requests (number, ranges, mean ns, max ns, longest path ns)",
        [whole[key] for key in ("requests", "calls", "avg", "max")]
        + [whole["critical_avg"]],
        [len(found), sum(map(len, found)), mean(times, len(found)), max(times)]
        + [mean(paths, len(found))],
    )
    own = [
        sum(end - start for start, end in uncovered(parts)) for parts in found
    ]
    out.row(
        f"{WHOLE} (tail ns, what nothing inside covers ns)",
        (rows[WHOLE]["tail"], rows[WHOLE]["critical_avg"]),
        (0, mean(own, len(found))),
    )
    names = {part.name for parts in found for part in parts}
    for name in sorted(names):
        mine = [
            [part.end - part.start for part in parts if part.name == name]
            for parts in found
        ]
        mine = [lengths for lengths in mine if lengths]
        sums = [sum(lengths) for lengths in mine]
        out.row(
            f"requests {name} (requests, calls, mean ns, max ns)",
            [rows[name][key] for key in ("requests", "calls", "avg", "max")],
            [len(mine), sum(map(len, mine)), mean(sums, len(sums)), max(sums)],
        )


def main(arguments):
    if len(arguments) not in (3, 4):
        sys.exit(__doc__)
    report = load(arguments[1])
    slices, processes = slices_of(load(arguments[2]))
    out = Comparison()
    compare_overview(report, slices, out)
    compare_devices(report, slices, processes, out)
    compare_model(report, slices, "Inference", out)
    if len(arguments) == 4:
        compare_requests(load(arguments[3]), slices, out)
    types = {row["event_type"] for row in rows_of(report, "overview")}
    for needed in ("ProfileStep", "Inference"):
        if needed not in types:
            out.row(f"overview {needed}", None, "expected")
    print(f"{out.num_rows} rows, {out.num_wrong} different")
    return 1 if out.num_wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
