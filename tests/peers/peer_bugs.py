# SPDX-License-Identifier: Apache-2.0
"""What Paddle's profiler does wrong, by a minimal program for each, and what we do with the same."""
import json
import re

import common

NEAR = 0.02
NO_MIN = "a value that is the greatest so far is never compared with its minimum"
SUMMED = "it adds up phases of threads, though its note says that it merges them"
QUOTE = "it does not escape quotes in names: its trace is no JSON"
OVERLAP = "it fails where ranges of a thread overlap partly, and loses the run"


def compare(peer):
    row = common.Row("known bugs, a minimal program each: least step, threads, a quote in a name, "
                     "ranges that overlap")
    for bug in (growing, threads, quote, overlap):
        said = peer.run("bugs_program.py", bug.__name__)
        bug(peer, row, said, json.loads(said.splitlines()[-1]))
    return row


def differ(row, where, theirs, ours, reason, *expected):
    """A cell whose difference is this bug, as it is described."""
    row.cell(where, theirs, ours, reason if (theirs, ours) == expected else None)


def least_step(text):
    return float(re.search(r"batch_cost +\|.*\| +(\S+) +\|", text)[1])


def growing(peer, row, said, steps):
    ours = least_step(peer.report("--view", "perf", "--wide", "growing.pplog"))
    right = min(steps[10:])
    row.cell("our least step", True, abs(ours - right) < NEAR * right)
    differ(row, "least step", least_step(said), ours, NO_MIN, float("inf"), ours)


def threads(peer, row, said, _):
    """Both of the trace that Paddle wrote, so that they are of the same two ranges."""
    spans = [(common.ns(event["args"]["start_time"].split()[0]), common.ns(event["dur"]))
             for event in common.load(peer.path("threads.json")) if event.get("cat") == "Forward"]
    (first, _), (last, _) = sorted(spans)
    union = max(start + ns for start, ns in spans) - first
    assert last < min(start + ns for start, ns in spans), "not at once"
    cells = next(line for line in peer.rows("overview", "--view", "overview", "threads.json")
                 if line["event_type"] == "Forward")
    theirs = float(re.search(r"Forward +2 +([\d.]+)", said)[1])
    both = sum(ns for _, ns in spans)
    if abs(theirs - both) <= both * 2**-23 + 2:  # durations in the trace are floats of 24 bits
        theirs = both
    differ(row, "Forward of two threads", theirs, cells["time"], SUMMED, both, union)


def quote(peer, row, *_):
    def is_json(path):
        try:
            common.load(path)
        except ValueError:
            return False
        return True

    peer.report("trace", "--force", "quote.pplog", "-o", peer.path("quote.ours.json"))
    differ(row, "a name with a quote", is_json(peer.path("quote.json")),
           is_json(peer.path("quote.ours.json")), QUOTE, False, True)


def overlap(peer, row, _, failed):
    names = {line["name"] for line in peer.rows("tree", "--flat", "overlap.pplog")}
    differ(row, "ranges that overlap", "intersection" in failed,
           not {"first", "second"} <= names, OVERLAP, True, False)
