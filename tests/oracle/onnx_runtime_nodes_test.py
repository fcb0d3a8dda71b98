#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model beside the trace that ONNX Runtime wrote of four runs of it.

onnx_runtime_nodes_test.py PPROF_REPORT. Both files are of tests/peers/nodes_program.py (as_is), by
ONNX Runtime 1.32.0 on 2 processors, Intel(R) Xeon(R). Values are added up by hand, in microseconds.
"""
import json
import os
import sys
import unittest

import case
from case import DATA

sys.path.append(os.path.join(DATA, "..", "..", "cost"))
import models  # so that cost finds onnx

US = 1000
MODEL, TRACE = (os.path.join(DATA, "ort_modules" + end) for end in (".onnx", ".json"))
# N.OC.OH.OW . IC.KH.KW
FIRST, SECOND = 16 * 32 * 32 * 3 * 9, 16 * 32 * 32 * 16 * 9


def cost(*options):
    return case.output("cost", MODEL, *options)


def rows(*options):
    told = json.loads(cost("-f", "json", "--times", TRACE, *options))
    names = [column["name"] for column in told["columns"]]
    return {row[0]: dict(zip(names, row)) for row in told["rows"]}, told["notes"]


class Nodes(unittest.TestCase):
    def test_operators_in_one_run(self):
        # The third: Conv 49 + 131, Relu 12 + 12, of 239 in all.
        found, notes = rows("--by", "operator", "--step", "2")
        conv = found["Conv"]
        self.assertEqual((conv["macs"], conv["time"]), (FIRST + SECOND, 180 * US))
        self.assertAlmostEqual(conv["time_share"], 100 * 180 / 239, places=4)
        self.assertAlmostEqual(conv["flop_rate"], 2 * (FIRST + SECOND) / (180 * US), places=4)
        # Reads 3 and 16 planes of 4 KiB, and its weights; writes 16 each.
        self.assertAlmostEqual(conv["byte_rate"], (4096 * (3 + 16 + 32) + 4 * 16 * 9 * (3 + 16))
                               / (180 * US), places=4)
        self.assertEqual({name: row["time"] for name, row in found.items()},
                         {"Conv": 180 * US, "Relu": 24 * US, "GlobalAveragePool": 14 * US,
                          "Flatten": 9 * US, "Gemm": 12 * US})
        self.assertIn("Time: run 2 of 4, 0.30 ms; in nodes 0.24 ms, 7 of 7 of the model's", notes)

    def test_the_mean_is_without_the_first_run(self):
        # (82 + 49 + 8068) / 3 and (166 + 131 + 220) / 3.
        found, notes = rows("--by", "node")
        self.assertEqual(found["/features/0/conv/Conv"]["time"], 2733000)
        self.assertEqual(found["/features/1/conv/Conv"]["time"], 172333)
        self.assertTrue(any("the mean of 3 runs, without the first, 3.06 ms" in note
                            for note in notes), notes)

    def test_modules_have_what_is_in_them(self):
        # 49 + 12 and 131 + 12.
        found, _ = rows("--by", "module", "--depth", "2", "--step", "2")
        self.assertEqual((found["0"]["time"], found["1"]["time"]), (61 * US, 143 * US))
        self.assertEqual(found["features"]["time"], 204 * US)

    def test_as_deepspeed_prints_it(self):
        text = cost("--times", TRACE, "--step", "2", "--style", "deepspeed", "--depth", "2")
        for line in ("Profile Summary at step 2:",
                     "fwd MACs:                                         2.8 MMACs",
                     "fwd latency:                                      297 us",
                     "    fwd latency - {'features': '204 us'}",
                     "    MACs        - {'features/1': '2.36 MMACs'}",
                     # Of 239 us; 4.72 MFLOP and 16 k in 143 us.
                     "    (1): (2.3 K = 79.28% Params, 2.36 MMACs = 84.21% MACs, 143 us = 59.83% "
                     "latency, 33.11 GFLOPS)"):
            self.assertIn(line + "\n", text)


if __name__ == "__main__":
    case.main()
