#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--group-by stack=N: ranges apart by the Python functions around them, as torch's
key_averages(group_by_stack_n=N) has them, which lie around operators then.

stack_test.py PPROF_REPORT.
"""
import gzip
import json
import os

import case
from case import DATA, Case

COLUMNS = ("calls", "self_cpu", "cpu_total", "cpu_memory", "self_cpu_memory")


def event(cat, name, start, end, tid=2, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start,
            "dur": end - start, "args": args}


def function(name, start, end, tid=2):
    return event("python_function", name, start, end, tid)


def operator(name, start, end, sequence=None, **args):
    if sequence is not None:
        args["Sequence number"] = sequence
    return event("cpu_op", name, start, end, **args)


def evaluation(node, start, end, sequence=None):
    """What autograd runs of a node, with an operator in it."""
    return [operator("autograd::engine::evaluate_function: " + node, start, end, sequence),
            operator(node, start + 1, end - 1, sequence),
            operator("aten::mm", start + 2, end - 2)]


class StackTest(Case):
    def rows(self, events, group_by):
        with open(self.path("trace.json"), "w", encoding="utf-8") as file:
            json.dump(events, file)
        return self.rows_of(self.path("trace.json"), group_by)

    def rows_of(self, path, group_by):
        report = case.Report(path, "--style", "torch", "--top", "0", "--group-by", group_by)
        rows = [dict(zip(report.columns("torch"), row)) for row in report.rows("torch")]
        return {row["name"]: tuple(row[column] for column in COLUMNS[:3]) for row in rows}

    NESTED = [function("a.py(1): main", 0, 100), function("a.py(5): f", 10, 50),
              operator("aten::mm", 20, 30), function("a.py(5): f", 60, 90),
              operator("aten::mm", 70, 75), operator("aten::mm", 92, 96)]

    def test_functions_lie_around_operators(self):
        self.assertEqual(self.rows(self.NESTED, "stack=0"), {
            "a.py(1): main": (1, 100000 - 70000 - 4000, 100000),
            "a.py(5): f": (2, 70000 - 15000, 70000), "aten::mm": (3, 19000, 19000)})

    def test_names_have_so_many_functions_the_innermost_first(self):
        self.assertEqual(self.rows(self.NESTED, "stack=1"), {
            "a.py(1): main": (1, 26000, 100000),
            "a.py(5): f @ a.py(1): main": (2, 55000, 70000),
            "aten::mm @ a.py(5): f": (2, 15000, 15000),
            "aten::mm @ a.py(1): main": (1, 4000, 4000)})
        self.assertEqual(sorted(self.rows(self.NESTED, "stack=9")), [
            "a.py(1): main", "a.py(5): f @ a.py(1): main", "aten::mm @ a.py(1): main",
            "aten::mm @ a.py(5): f;a.py(1): main"])

    def test_threads_have_their_own_functions(self):
        events = self.NESTED[:1] + [event("cpu_op", "aten::mm", 20, 30, tid=3)]
        self.assertIn("aten::mm", self.rows(events, "stack=2"))

    def test_a_range_that_a_function_opens_for_its_caller(self):
        """Its own stack is that of its start; what comes then is called from around it."""
        events = [function("a.py(1): main", 0, 100), function("p.py(2): __enter__", 10, 20),
                  event("user_annotation", "forward", 15, 80), operator("aten::mm", 30, 40),
                  function("p.py(9): __exit__", 70, 90)]
        self.assertEqual(sorted(self.rows(events, "stack=1")), [
            "a.py(1): main", "aten::mm @ a.py(1): main", "forward @ p.py(2): __enter__",
            "p.py(2): __enter__ @ a.py(1): main", "p.py(9): __exit__ @ a.py(1): main"])

    def test_a_function_that_ends_where_a_range_begins_is_around_it(self):
        events = [function("a.py(1): main", 0, 100), function("a.py(5): f", 10, 20),
                  operator("aten::mm", 20, 30), operator("aten::t", 21, 22)]
        names = self.rows(events, "stack=1")
        self.assertIn("aten::mm @ a.py(5): f", names)
        self.assertIn("aten::t @ a.py(1): main", names)

    def test_backward_has_the_stack_of_its_forward(self):
        """Of the first operator with its number; its evaluation has its own. What accumulates
        gradients has no number, and no stack."""
        events = [function("a.py(1): main", 0, 1000), function("a.py(5): f", 10, 50),
                  operator("aten::linear", 20, 40, 7), function("a.py(6): g", 25, 35),
                  operator("aten::addmm", 26, 30, 7), function("a.py(9): backward", 100, 500),
                  *evaluation("AddmmBackward0", 110, 150, 7),
                  *evaluation("torch::autograd::AccumulateGrad", 200, 250)]
        names = self.rows(events, "stack=1")
        for name in ("AddmmBackward0 @ a.py(5): f", "aten::mm @ a.py(5): f", "aten::mm",
                     "torch::autograd::AccumulateGrad",
                     "autograd::engine::evaluate_function: AddmmBackward0 @ a.py(9): backward"):
            self.assertEqual(names.get(name, (0,))[0], 1, names)

    def test_what_is_no_sequence_number(self):
        for number in (-1, -1e300, 1e300, "7", None):
            names = self.rows([function("a.py(1): main", 0, 90),
                               operator("aten::linear", 20, 40, number),
                               *evaluation("AddmmBackward0", 50, 80, number)], "stack=1")
            self.assertIn("AddmmBackward0", names, number)

    def test_entries_that_torch_leaves_out(self):
        events = [function("a.py(1): main", 0, 100),
                  function("torch/autograd/__init__.py(255): backward", 10, 90),
                  operator("aten::mm", 20, 30)]
        self.assertIn("aten::mm @ a.py(1): main", self.rows(events, "stack=1"))

    def test_with_shapes(self):
        events = [function("a.py(1): main", 0, 100),
                  operator("aten::mm", 20, 30, **{"Input Dims": [[8, 32], [32, 64]]}),
                  operator("aten::linear", 40, 60, 3)]
        node = "AddmmBackward0"
        backward = evaluation(node, 70, 90, 3)
        backward[1]["args"]["Input Dims"] = [[8, 4]]
        names = self.rows(events + backward, "shape,stack=1")
        self.assertIn("aten::mm [[8, 32], [32, 64]] @ a.py(1): main", names)
        self.assertIn("AddmmBackward0 [[8, 4]] @ a.py(1): main", names)

    def test_numbers_in_functions_do_not_fold(self):
        """Annotations that differ in numbers alone are one, but not those of different callers."""
        events = []
        for at in range(20):
            events += [function(f"a.py({at}): f", 10 * at, 10 * at + 9),
                       event("user_annotation", "part", 10 * at + 1, 10 * at + 5)]
        names = self.rows(events, "stack=1")
        self.assertEqual(sum(name.startswith("part @ ") for name in names), 20)

    def test_a_name_that_has_no_room_stays_as_it_is(self):
        deep = [function(f"{'a' * 900}.py({at}): f", at, 100 - at) for at in range(6)]
        long_name = "b" * 4000
        names = self.rows(deep + [operator("aten::mm", 20, 30), operator(long_name, 40, 50)],
                          "stack=9")
        self.assertIn(long_name, names)
        stack = next(name for name in names if name.startswith("aten::mm")).split(" @ ")[1]
        self.assertEqual([entry[-7:] for entry in stack.split(";")],
                         ["y(5): f", "y(4): f", "y(3): f", "y(2): f"])

    def test_a_log_keeps_it(self):
        with open(self.path("trace.json"), "w", encoding="utf-8") as file:
            json.dump(self.NESTED, file)
        case.output("import", self.path("trace.json"), "-o", self.path("run.pplog"), "--group-by",
                    "stack=1")
        report = case.Report(self.path("run.pplog"), "--style", "torch")
        self.assertIn("aten::mm @ a.py(5): f", [row[0] for row in report.rows("torch")])

    def test_what_is_no_number_of_functions(self):
        for wrong in ("stack", "stack=", "stack=-1", "stack=many", "stack=12345", "shape,", "",
                      "stack=1,colour"):
            done = case.run("--group-by", wrong, "trace.json")
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn(b"stack=N", done.stderr, wrong)


class RealTest(Case):
    """A step of training of PyTorch 2.13's, recorded on the CPU with Python's functions and memory
    (`training` of tests/peers/torch_stack_program.py; without the arguments `Call stack`, of which
    nothing is made), against key_averages() of the same run."""

    def differences(self, depth):
        with gzip.open(os.path.join(DATA, "torch_stack.rows.json.gz"), "rt") as file:
            theirs = {row[0]: row[1:] for row in json.load(file)[str(depth)]}
        report = case.Report(os.path.join(DATA, "torch_stack.json.gz"), "--style", "torch", "--top",
                             "0", "--group-by", f"stack={depth}")
        ours = {}
        for row in report.rows("torch"):
            cells = dict(zip(report.columns("torch"), row))
            ours[cells["name"]] = [cells[column] for column in COLUMNS]
        self.assertEqual(sorted(theirs), sorted(ours))
        return {(name.split(" @ ")[0], column): cell for name, row in theirs.items()
                for column, *cell in zip(COLUMNS, row, ours[name]) if cell[0] != cell[1]}

    def test_rows_are_torchs(self):
        for depth in (0, 1, 4):
            found = self.differences(depth)
            # torch folds a single child of its parent's name into it.
            for column in ("calls", "cpu_total", "cpu_memory"):
                theirs, ours = found.pop(("aten::remainder", column))
                self.assertEqual(ours > theirs, True)
            # It takes away twice what two of the ranges in these have in common.
            self.assertEqual(sorted(found), sorted((name, "self_cpu") for name in (
                "forward", "torch/optim/optimizer.py(1023): zero_grad",
                "torch/optim/optimizer.py(509): wrapper", "torch_stack_program.py(38): train")))
            self.assertEqual([cell for cell in found.values() if cell[0] >= cell[1]], [])


if __name__ == "__main__":
    case.main()
