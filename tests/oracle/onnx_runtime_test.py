#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trace that ONNX Runtime wrote of five runs of a small model on the CPU.

onnx_runtime_test.py PPROF_REPORT. Values are added up by hand from the trace, in microseconds.
"""
import os

import case
from case import DATA, Case, Report

US = 1000


class OnnxRuntimeTest(Case):
    def setUp(self):
        super().setUp()
        self.report = Report(os.path.join(DATA, "ort_cpu.json"))

    def test_operators(self):
        # MatMul is two nodes, 106 + 16 + 10 + 9 + 11 and 7 + 5 + 6 + 4 + 5.
        rows = {row[0]: (row[3], row[4]) for row in self.report.rows("operator")}
        self.assertEqual(rows, {"MatMul": (10, 179 * US), "Relu": (5, 28 * US),
                                "Softmax": (5, 34 * US)})

    def test_runs_are_inference(self):
        row = self.report.find("model", "Inference")
        self.assertEqual((row["calls"], row["cpu_total"], row["cpu_max"], row["cpu_min"]),
                         (5, 423 * US, 247 * US, 38 * US))

    def test_session(self):
        rows = {row[0]: (row[2], row[3]) for row in self.report.rows("userdefined")}
        self.assertEqual(rows, {"session_initialization": (1, 3664 * US),
                                "model_loading_uri": (1, 413 * US),
                                "SequentialExecutor::Execute": (5, 319 * US)})

    def test_what_it_does_not_say(self):
        for view in ("kernel", "memory", "perf", "distributed"):
            self.assertEqual(self.report.rows(view), [])
            self.assertTrue(self.report.json["views"][view]["reason"])


if __name__ == "__main__":
    case.main()
