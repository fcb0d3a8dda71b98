#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random traces through pprof-report, every cell compared with the oracle's.

oracle_test.py PPROF_REPORT [FIRST_SEED NUM]. A failing trace is made smaller as long as it fails,
and printed.
"""
import decimal
import json
import os
import sys
from fractions import Fraction

import case
import oracle
import random_traces
from case import Case
from model import Ratio

SEEDS = (1, 100)
RATIO_ERROR = Fraction(6, 10**7)  # six decimals
SORTS = ("cpu-total", "cpu-avg", "cpu-max", "cpu-min", "gpu-total", "gpu-avg", "gpu-max",
         "gpu-min", "self", "p50", "p90", "p99", "std", "calls")


def views_of(text):
    """The views of a JSON report: names of columns, and rows with exact numbers."""
    report = json.loads(text, parse_float=decimal.Decimal)
    return {name: ([column["name"] for column in view["columns"]], view["rows"])
            for name, view in report["views"].items()}, report


def is_equal(expected, found):
    if isinstance(expected, Ratio):
        if found is None or isinstance(found, str):
            return False
        error = RATIO_ERROR + abs(expected) / 10**13
        return abs(Fraction(found) - expected) <= error
    return expected == found


def compare_rows(view, expected, found):
    """What differs, as a text; None if nothing does."""
    if len(expected) != len(found):
        return f"{view}: {len(found)} rows, not {len(expected)}:\n" + \
               rows_text(found) + "expected\n" + rows_text(expected)
    for want, have in zip(expected, found):
        if len(want) != len(have) or not all(map(is_equal, want, have)):
            return f"{view}:\n  {have}, expected\n  {plain(want)}"
    return None


def plain(row):
    return [float(cell) if isinstance(cell, Fraction) else cell for cell in row]


def rows_text(rows):
    return "".join(f"  {plain(row)}\n" for row in rows)


def compare(text, expected, of=None):
    views, report = views_of(text)
    for view, rows in expected.items():
        if view not in views:
            return f"no view {view}"
        problem = compare_rows(view, rows, views[view][1])
        if problem:
            return problem
    return compare_rest(report, of) if of else None


def compare_rest(report, of):
    """Identity and trust."""
    identity = report["identity"]
    found = {device["device"]: (device["wall_ns"], device["busy_ns"])
             for device in identity["devices"]}
    if found != of.identity():
        return f"identity: {found}, expected {of.identity()}"
    for device in identity["devices"]:
        parts = ("busy_ns", "not_submitted_ns", "queued_ns", "no_more_work_ns", "unresolved_ns")
        if device["wall_ns"] != sum(device[part] for part in parts) or not device["ok"]:
            return f"identity does not hold: {device}"
    trust = {name: report["trust"][name] for name in of.trust()}
    return None if trust == of.trust() else f"trust: {trust}, expected {of.trust()}"


class Checks:
    """All ways to look at one trace; each answers what is wrong, or None."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, is_paddle, items, seed):
        name = "trace.json.gz" if seed % 3 == 0 else "trace.json"
        path = self.path(name)
        # The process and a device of one number, as in a container.
        pid = 1 if seed % 7 == 3 else 4242
        random_traces.trace_of(is_paddle, items, pid).write(path)
        return self.ask(path, seed) or self.by_log(path) or (
            self.by_merge(path, is_paddle, items) if seed % 4 == 0 else
            self.by_processes(items) if seed % 4 == 1 else None)

    def ask(self, path, seed):
        runs = oracle.Oracle([path])
        for arguments, expected in self.questions(runs, seed):
            done = case.run("summary", path, "-f", "json", *arguments)
            if done.returncode != 0:
                return f"{arguments}: exit {done.returncode}: {done.stderr.decode()}"
            problem = compare(done.stdout.decode(), expected, runs.all)
            if problem:
                return f"{' '.join(arguments)}: {problem}"
        return None

    def questions(self, runs, seed):
        yield (), runs.views()
        yield ("--thread-sep", "--op-detail"), runs.views(thread_sep=True, op_detail=True)
        yield ("--op-detail", "--distributed", "paddle"), runs.views(op_detail=True,
                                                                     distributed="paddle")
        sort, top = SORTS[seed % len(SORTS)], seed % 5
        yield ("--sort", sort, "--top", str(top)), runs.views(sort=sort, top=top)
        sort = list(oracle.TORCH_KEYS)[seed % len(oracle.TORCH_KEYS)]
        yield ("--style", "torch", "--sort", sort, "--top", "0"), runs.torch(sort)
        sort = list(oracle.NSYS_KEYS)[seed % len(oracle.NSYS_KEYS)]
        yield ("--style", "nsys", "--sort", sort), runs.nsys(sort)

    def by_log(self, path):
        """The log made of a trace says what the trace says."""
        log = self.path("trace.pplog")
        done = case.run("import", path, "-o", log, "--force")
        if done.returncode != 0:
            return f"import: exit {done.returncode}: {done.stderr.decode()}"
        for arguments in ((), ("--thread-sep", "--op-detail")):
            direct = case.output("summary", path, "-f", "json", *arguments)
            logged = case.output("summary", log, "-f", "json", *arguments)
            if direct != logged:
                return f"the log's report differs:\n{first_difference(direct, logged)}"
        return None

    def by_merge(self, path, is_paddle, items):
        """Two runs in one log, and two logs in one report, are the two together."""
        other, both = self.path("other.json"), self.path("both.pplog")
        random_traces.trace_of(is_paddle, items[:len(items) // 2], pid=4343).write(other)
        if not items[:len(items) // 2]:
            return None
        expected = oracle.Oracle([path, other]).views()
        done = case.run("merge", path, other, "-o", both, "--force")
        if done.returncode != 0:
            return f"merge: exit {done.returncode}: {done.stderr.decode()}"
        apart = case.output("summary", path, other, "-f", "json")
        merged = case.output("summary", both, "-f", "json")
        return compare(apart, expected) or compare(merged, expected)


    def by_processes(self, items):
        """Two processes in one trace of Kineto's."""
        path = self.path("processes.json")
        one = random_traces.trace_of(False, items)
        two = random_traces.trace_of(False, items[::2], pid=4343, first_id=100000)
        one.events += two.ends() + two.events
        one.write(path)
        of = oracle.Oracle([path])
        return compare(case.output("summary", path, "-f", "json"), of.views(), of.all)


def first_difference(left, right):
    for a, b in zip(left.splitlines(), right.splitlines()):
        if a != b:
            return f"  {a}\n  {b}"
    return "  one is longer"


def shrunk(checks, is_paddle, items, seed):
    """Takes away items as long as something is wrong."""
    size = max(1, len(items) // 2)
    while size:
        at = 0
        while at < len(items):
            fewer = items[:at] + items[at + size:]
            if fewer and checks.run(is_paddle, fewer, seed):
                items = fewer
            else:
                at += size
        size //= 2
    return items


class OracleTest(Case):
    def test_real_traces(self):
        checks = Checks(self.folder)
        for name in ("torch_small.json.gz", "torch_ddp0.json.gz", "paddle_scenario_s.json"):
            path = os.path.join(case.DATA, name)
            self.assertIsNone(checks.ask(path, 1) or checks.by_log(path), name)

    def test_random_traces(self):
        first, num = SEEDS
        checks = Checks(self.folder)
        for seed in range(first, first + num):
            is_paddle, items = random_traces.items_of(seed)
            problem = checks.run(is_paddle, items, seed)
            if not problem:
                continue
            items = shrunk(checks, is_paddle, items, seed)
            problem = checks.run(is_paddle, items, seed)
            shown = "\n".join(map(repr, items[:60]))
            self.fail(f"seed {seed} ({'Paddle' if is_paddle else 'Kineto'}):\n{shown}\n{problem}")


if __name__ == "__main__":
    if len(sys.argv) > 3:
        SEEDS = (int(sys.argv.pop(2)), int(sys.argv.pop(2)))
    case.main()
