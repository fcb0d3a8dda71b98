# SPDX-License-Identifier: Apache-2.0
"""Paddle's profiler and our markers in one program: what both say of the same ranges.

Ours is around Paddle's, so each of its calls is as long or longer: by what lies between the reads of
both clocks, which pairs of ranges around nothing show. Steps follow each other and are not around
Paddle's: they differ either way, by no more than the calls of both profilers' step() took. The
tables then have to say what these calls add up to: a total is Paddle's and all that calls are
longer by, an average, maximum or minimum lies between Paddle's and the call that is longer by most,
and ratios and Others are of such totals.
"""
import collections
import json
import re
import sqlite3

import common

RANGES = """SELECT s.category, s.name, end_ns - start_ns FROM host_range r JOIN site s ON s.id = r.site
  ORDER BY start_ns"""
FIELDS = ("Total", "Avg", "Max", "Min", "Ratio")
STEP = "ProfileStep"
UNITS = {"ns": 1, "ms": 10**6}
# Both clocks follow CLOCK_REALTIME or CLOCK_MONOTONIC, which the kernel slews by no more.
SLEW = 500e-6
HALF = 0.005  # of the last decimal
# What Paddle has of the framework's own, which no program marks.
INSIDE = ("OperatorInner", "UserDefined", "DygraphKernelLaunch")
NOT_MARKED = "the framework's own ranges, which no program marks"
BY_NAME = "Paddle tells communication by name in Overview, too"
ALL_OPERATORS = "of the operators that are marked"
NO_FLOPS = "FLOPs that nobody stated are `-`, not 0"


def calls_of_paddle(events):
    """{(category, name): [ns]} in the order of time, without what its names end in."""
    found = collections.defaultdict(list)
    for event in sorted((e for e in events if e.get("ph") == "X"), key=lambda e: e["ts"]):
        found[event["cat"], re.sub(r"(#\d+)?\[[^[]*\]$", "", event["name"])].append(
            common.ns(event["dur"]))
    return found


def calls_of_ours(peer, name):
    base = peer.path(name + ".sqlite")
    peer.report("export", "sqlite", "--force", name + ".pplog", "-o", base)
    found = collections.defaultdict(list)
    for category, site, ns in sqlite3.connect(base).execute(RANGES):
        found[category, site].append(ns)
    return found


def rounding_of(ns, calls=1):
    """Of durations in Paddle's trace: floats of 24 bits, in us with three decimals."""
    return ns * 2**-23 + calls


def compare_calls(peer, row, name):
    """{(category, name): [ours less theirs]} of each pair."""
    theirs, ours = calls_of_paddle(common.load(peer.path(name + ".json"))), calls_of_ours(peer, name)
    longer = {}
    for key, mine in ours.items():
        row.cell(f"{key}: calls", len(theirs[key]), len(mine))
        longer[key] = [b - a for a, b in zip(theirs[key], mine)]
        for a, b in zip(theirs[key], mine) if key[0] != STEP else ():
            row.cell(f"{key}: a call of {a} ns, ours {b}", True,
                     b >= a - a * SLEW - rounding_of(a))
    return longer


def of_category(longer, category):
    return [ns for key, all_ns in longer.items() if key[0] == category for ns in all_ns]


def compare_usual(row, longer, empty, steps):
    """What ours is usually longer by, beside what it is around nothing."""
    for category in sorted({key[0] for key in longer}):
        usual = median(list(map(abs, of_category(longer, category))))
        most = max(steps) if category == STEP else quantile(of_category(empty, category), 0.99)
        row.cell(f"{category}: {usual} ns longer, around nothing {most}", True, usual <= most)


def quantile(values, part):
    return sorted(values)[int(part * (len(values) - 1))]


def median(values):
    return quantile(values, 0.5)


def around(longer, empty):
    """The reason of all cells that differ by what lies between the clocks' reads."""
    said = ", ".join(f"{name} {median(of_category(longer, name)) / 1000:.0f} "
                     f"({median(of_category(empty, name)) / 1000:.0f})"
                     for name in sorted({key[0] for key in longer} - {STEP}))
    return f"ours is around theirs; longer by, us a call, and around nothing: {said}"


class Interval:
    """Where a figure of ours has to lie, in ns, from one of Paddle's."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    @staticmethod
    def of(ns, longer, rounded):
        """`longer`: what ours is longer by, at least and at most."""
        return Interval(ns + longer[0] - rounded, ns + longer[1] + rounded)

    def less(self, other):
        return Interval(self.low - other.high, self.high - other.low)

    def has(self, ns, rounded):
        return self.low - rounded <= ns <= self.high + rounded


class Tables:
    """Paddle's tables in one unit, beside ours."""

    def __init__(self, row, longer, reason, unit):
        self.row, self.longer, self.reason, self.unit = row, longer, reason, UNITS[unit]

    def compare(self, theirs, ours):
        self.theirs = theirs
        self.base = self.total(of_category(self.longer, STEP), self.model(STEP))
        for title in ("Overview Summary", "Model Summary", "Distribution Summary",
                      "Operator Summary", "Memory Manipulation Summary", "UserDefined Summary"):
            mine = dict(ours[title])
            for key, cells in theirs[title]:
                self.compare_row(title, key[1][-1], cells, mine.get(key, {}))

    def model(self, name):
        return next(cells for key, cells in self.theirs["Model Summary"] if key[1][-1] == name)

    def total(self, longer, cells):
        """Where our total lies beside the first figure of these cells."""
        figure = next(cell for column, cell in cells.items() if column.startswith(("CPU T", "Total")))
        ns, added = float(figure.split(" / ")[0]) * self.unit, sum(longer)
        return Interval.of(ns, (added, added), rounding_of(ns, len(longer)) + HALF * self.unit)

    def longer_of(self, title, name):
        """What the calls of a row are longer by."""
        if title in ("Overview Summary", "Model Summary") or name == STEP:
            return of_category(self.longer, name)
        if title == "Distribution Summary":
            return self.longer["Operator", "broadcast_tensors dygraph"] if name == \
                "Communication" else []
        return self.longer.get(("Operator" if title == "Operator Summary" else "PythonUserDefined",
                                name), [])

    def is_near(self, title, name, cells, field, theirs, ours):
        longer = self.longer_of(title, name)
        total = self.others() if name == "Others" else self.total(longer, cells)
        if field == "Ratio":
            return Interval(100 * total.low / self.base.high, 100 * total.high / self.base.low) \
                .has(float(ours), HALF)
        if field != "Total":
            ns = float(theirs) * self.unit
            total = Interval.of(ns, (min(longer), max(longer)), rounding_of(ns) + HALF * self.unit)
        return total.has(float(ours) * self.unit, HALF * self.unit)

    def others(self):
        left = self.base
        for name in ("Dataloader", "Forward", "Backward", "Optimization"):
            left = left.less(self.total(of_category(self.longer, name), self.model(name)))
        return left

    def compare_row(self, title, name, cells, mine):
        for column, cell in cells.items():
            where, other = f"{self.unit} {title} {name} {column}", mine.get(column)
            why = self.known(title, name, column, mine)
            if why or other is None or column == "Calls":
                self.row.cell(where, cell, other, why)
                continue
            fields = FIELDS if " / " in column else \
                ("Ratio",) if "Ratio" in column else ("Total",)
            for field, a, b in zip(fields, cell.split(" / "), other.split(" / ")):
                why = None
                if title == "Operator Summary" and field == "Ratio":
                    why = ALL_OPERATORS
                elif a != b and "-" not in (a, b):
                    why = self.reason if self.is_near(title, name, cells, field, a, b) else None
                self.row.cell(f"{where} {field}", a, b, why)

    def known(self, title, name, column, mine):
        if column == "FLOPs":
            return NO_FLOPS
        if title == "Overview Summary" and name in INSIDE + ("Operator",):
            return NOT_MARKED
        if title == "Overview Summary" and name == "Communication":
            return BY_NAME
        return NOT_MARKED if title == "Operator Summary" and not mine else None


def compare(peer, tables_of):
    """`tables_of` reads the tables of a text."""
    steps = json.loads(peer.run("twin_program.py").splitlines()[-1])["steps_ns"]
    calls = common.Row("a twin with our markers: calls of each name, and each call around "
                       "Paddle's, usually by no more than 99 % of pairs around nothing")
    empty, longer = (compare_calls(peer, calls, name) for name in ("empty", "twin"))
    compare_usual(calls, longer, empty, steps)
    tables = common.Row("the twin's tables beside Paddle's: Overview, Model, Distribution, Operator,"
                        " Memory Manipulation, UserDefined, in two units")
    for unit in UNITS:
        with open(peer.path(unit + ".txt"), encoding="utf-8") as file:
            theirs = tables_of(file.read())
        ours = tables_of(peer.report("--style", "paddle", "--wide", "--time-unit", unit, "--distributed",
                                     "paddle", "twin.pplog"))
        Tables(tables, longer, around(longer, empty), unit).compare(theirs, ours)
    return [calls, tables]
