#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--group-by shape: operators of one name apart by their inputs, in all three dialects.

shapes_test.py PPROF_REPORT.
"""
import json

import case
from case import Case


def operator(cat, name, start, args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 2, "ts": start, "dur": 10,
            "args": args}


class ShapesTest(Case):
    def names(self, events, *options):
        with open(self.path("trace.json"), "w", encoding="utf-8") as file:
            json.dump(events, file)
        report = case.Report(self.path("trace.json"), "--view", "operator", *options)
        return {row[0]: row[3] for row in report.rows("operator")}

    def test_torch(self):
        events = [operator("cpu_op", "aten::mm", 0, {"Input Dims": [[8, 32], [32, 64]]}),
                  operator("cpu_op", "aten::mm", 20, {"Input Dims": [[8, 32], [32, 64]]}),
                  operator("cpu_op", "aten::mm", 40, {"Input Dims": [[8, 32], [32, 4]]}),
                  operator("cpu_op", "aten::empty", 60, {"Input Dims": []}),
                  operator("cpu_op", "aten::mm", 80, {})]
        self.assertEqual(self.names(events), {"aten::mm": 4, "aten::empty": 1})
        self.assertEqual(self.names(events, "--group-by", "shape"), {
            "aten::mm [[8, 32], [32, 64]]": 2, "aten::mm [[8, 32], [32, 4]]": 1,
            "aten::mm": 1, "aten::empty": 1})

    def test_paddle(self):
        events = {"span_indx": "0", "traceEvents": [
            operator("Operator", "matmul[10.000 us]", 0, {"input_shapes": {"X": [[8, 32]]}}),
            operator("Operator", "matmul[10.000 us]", 20, {"input_shapes": {}})]}
        self.assertEqual(self.names(events, "--group-by", "shape"),
                         {'matmul {"X":[[8, 32]]}': 1, "matmul": 1})

    def test_onnx_runtime(self):
        def node(name, start, width):
            return operator("Node", name + "_kernel_time", start, {
                "op_name": "MatMul", "input_type_shape": [{"float": [16, width]}]})
        self.assertEqual(
            self.names([node("first", 0, 64), node("last", 20, 32)], "--group-by", "shape"),
            {'MatMul [{"float":[16, 64]}]': 1, 'MatMul [{"float":[16, 32]}]': 1})

    def test_nothing_else_is_to_be_grouped_by(self):
        done = case.run("--group-by", "colour", "trace.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"shape", done.stderr)


if __name__ == "__main__":
    case.main()
