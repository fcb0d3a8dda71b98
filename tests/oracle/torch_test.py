#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of PyTorch 2.11 on an H200 against what torch.profiler itself printed for those runs.

torch_test.py PPROF_REPORT. The rows are torch's key_averages(), to the nanosecond; the tables are
its text. Each difference is listed by name with its reason, so that a new one fails.
"""
import json
import os
import re

import case
from case import DATA, Case, Report

COLUMNS = ("calls", "self_cpu", "cpu_total", "self_device", "device_total")
HEADINGS = ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "Self CUDA",
            "Self CUDA %", "CUDA total", "CUDA time avg", "# of Calls")


def path_of(name):
    return os.path.join(DATA, name)


def rows_of_torch(name):
    with open(path_of(name), encoding="utf-8") as file:
        report = json.load(file)
    rows = {(row[0], row[1]): dict(zip(COLUMNS, row[2:7])) for row in report["rows"]}
    return rows, report["self_cpu_time_total_ns"]


def rows_of_ours(report):
    columns, rows = report.columns("torch"), {}
    for row in report.rows("torch"):
        cells = dict(zip(columns, row))
        key = cells["name"], cells["kind"]
        assert key not in rows, key
        rows[key] = {name: cells[name] or 0 for name in COLUMNS}
    return rows


def table_rows(text, marker):
    """Rows of a table of torch's, or ours: (name, cells by heading), in order; and its footer."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if "# of Calls" in line)
    rule = lines[at - 1]
    edges, start = [], 0
    while start < len(rule):
        end = start
        while end < len(rule) and rule[end] == "-":
            end += 1
        edges.append((start, end))
        start = end + 2
    headings = re.split("  +", lines[at].strip())  # "CUDA time avg" is wider than its column
    rows = []
    for line in lines[at + 2:]:
        if line.startswith("---"):
            break
        cells = [line[a:b].strip() for a, b in edges]
        rows.append((cells[0], {h: c for h, c in zip(headings, cells) if h in HEADINGS}))
    footer = [line for line in lines if line.startswith(marker)]
    return rows, footer


def reads_as(row, other):
    """Equal cells. Means of two calls often lie half a nanosecond off: torch's floats fall to
    either side there, so a mean may differ in its last digit."""
    for heading, cell in row[1].items():
        found = other[1][heading]
        if cell == found:
            continue
        if not heading.endswith("time avg") or cell[-2:] != found[-2:] or \
                abs(float(cell[:-2]) - float(found[:-2])) > 0.0011:
            return False
    return row[0] == other[0]


class TorchTest(Case):
    def differences(self, trace, rows):
        """{(name, kind): {column: (torch's, ours)}}, and torch's total of self CPU and ours."""
        report = Report(path_of(trace), "--style", "torch", "--top", "0")
        torch, total = rows_of_torch(rows)
        ours = rows_of_ours(report)
        self.assertEqual(sorted(torch), sorted(ours))
        found = {}
        for key, row in torch.items():
            cells = {name: (row[name], ours[key][name]) for name in COLUMNS
                     if row[name] != ours[key][name]}
            if cells:
                found[key] = cells
        return found, total, sum(row["self_cpu"] for key, row in ours.items())

    def test_rows_of_two_steps_of_training(self):
        found, total, ours = self.differences("torch_small.json.gz", "torch_small.rows.json")
        self.assertEqual((total, ours), (6954774, 6954774))
        expected = {
            # A step is the whole process: 138.016 us of it were launched by the thread of the
            # backward pass, which torch does not see from the step.
            ("ProfilerStep*", "host"): {"device_total": (220990, 359006)},
        }
        # Kineto writes a GPU annotation 1 ns earlier and 2 ns longer than it is.
        for name, time in (("copy", 90528), ("forward", 756032), ("metric", 4448),
                           ("ProfilerStep*", 1471), ("Optimizer.step#SGD.step", 122592)):
            expected[name, "device"] = {"self_device": (time, time + 4),
                                        "device_total": (time, time + 4)}
        self.assertEqual(found, expected)

    def test_rows_of_cuda_graphs(self):
        found, total, ours = self.differences("torch_graph.json.gz", "torch_graph.rows.json")
        self.assertEqual((total, ours), (2618137, 2618137))
        self.assertEqual(found, {
            ("replay", "host"): {
                # Kernels of a graph have no External id, by which torch attributes; their
                # correlation id is that of cudaGraphLaunch.
                "self_device": (0, 204189), "device_total": (0, 204189)},
            ("replay", "device"): {"self_device": (233502, 233508),
                                   "device_total": (233502, 233508)},
        })

    def tables(self, trace, table, *arguments):
        with open(path_of(table), encoding="utf-8") as file:
            torch = table_rows(file.read(), "Self C")
        text = case.output("summary", path_of(trace), "--style", "torch", "--wide", *arguments)
        return torch, table_rows(text, "Self C")

    def test_table_reads_as_torchs(self):
        """Every cell of every row that torch printed, with its units and decimals."""
        torch, ours = self.tables("torch_small.json.gz", "torch_small.table.txt", "--top", "0")
        self.assertEqual(torch[1], ["Self CPU time total: 6.955ms",
                                    "Self CUDA time total: 359.006us"])
        self.assertEqual(ours[1], torch[1])
        self.assertEqual(len(ours[0]), len(torch[0]))
        shown, different = list(ours[0]), set()
        for row in torch[0]:
            same = [other for other in shown if reads_as(row, other)]
            if same:
                shown.remove(same[0])
            else:
                different.add(row[0])
        # The step's device time, and the GPU annotations' 4 ns.
        self.assertEqual(different, {"ProfilerStep*", "copy", "forward", "metric",
                                     "Optimizer.step#SGD.step"})

    def test_order_is_torchs(self):
        torch, ours = self.tables("torch_small.json.gz", "torch_small.table.txt")
        named = [name for name, cells in ours[0] if cells["Self CPU"] != "0.000us"]
        self.assertEqual([name for name, cells in torch[0] if cells["Self CPU"] != "0.000us"],
                         named[:len(torch[0])])
        self.assertLessEqual(len(ours[0]), 100)

    def test_memory_of_no_machine_wraps(self):
        """Changes of 2^62 bytes add up modulo 2^64."""
        whole = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1}
        events = [{**whole, "name": "aten::mm", "ts": 0, "dur": 10},
                  {**whole, "name": "aten::t", "ts": 1, "dur": 8}]
        events += [{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1,
                    "ts": ts, "args": {"Bytes": 2 ** 62, "Total Allocated": 1, "Device Type": 0}}
                   for ts in (2, 3, 4, 20, 21, 22)]
        with open(self.path("trace.json"), "w", encoding="utf-8") as file:
            json.dump(events, file)
        report = Report(self.path("trace.json"), "--style", "torch")
        rows = {row[0]: dict(zip(report.columns("torch"), row)) for row in report.rows("torch")}
        self.assertEqual([(rows[name]["cpu_memory"], rows[name]["self_cpu_memory"])
                          for name in ("aten::mm", "aten::t", "[memory]")],
                         [(-2 ** 62, 0), (-2 ** 62, -2 ** 62), (-2 ** 62, -2 ** 62)])

    def test_totals_of_distributed_training(self):
        torch, ours = self.tables("torch_ddp0.json.gz", "torch_ddp0.table.txt")
        # 22.839 us of runtime calls that the backward thread made outside any operator are
        # charged to the step by torch, which lies on another thread.
        self.assertEqual((torch[1], ours[1]), (
            ["Self CPU time total: 8.548ms", "Self CUDA time total: 1.214ms"],
            ["Self CPU time total: 8.571ms", "Self CUDA time total: 1.214ms"]))


if __name__ == "__main__":
    case.main()
