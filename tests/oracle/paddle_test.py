#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trace of PaddlePaddle 3.3.1 on the CPU against the tables that its profiler printed.

paddle_test.py PPROF_REPORT. Both are of one run of tests/peers/paddle_program.py with three steps;
`./dev peers paddle` makes new ones, in all orders and units.
"""
import os
import sys

import case
from case import DATA, Case

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(case.__file__)), "..", "peers"))
import common
import peer_paddle

TRACE = os.path.join(DATA, "paddle_small.json.gz")


class PaddleTest(Case):
    def test_each_printed_cell(self):
        for name, options in (("CPUTotal.ms.0", []), ("CPUMin.us.1", ["--thread-sep"]),
                              ("CPUAvg.ns.0", [])):
            key, unit, _ = name.split(".")
            with open(os.path.join(DATA, f"paddle_small.{name}.txt"), encoding="utf-8") as file:
                theirs = peer_paddle.tables_of(file.read())
            ours = peer_paddle.tables_of(
                case.output("--style", "paddle", "--wide", "--sort", peer_paddle.KEYS[key], "--time-unit",
                            unit, "--op-detail", *options, TRACE))
            row = common.Row(name)
            peer_paddle.compare_tables(row, name, theirs, ours)
            self.assertEqual(row.unexplained, [])
            self.assertGreater(row.equal, 300, row.explained)

    def test_orders(self):
        """Rows of equal time may stand in either order; all others as Paddle has them."""
        with open(os.path.join(DATA, "paddle_small.CPUAvg.ns.0.txt"), encoding="utf-8") as file:
            theirs = peer_paddle.tables_of(file.read())["Operator Summary"]
        names = [key[1][0] for key, _ in theirs if len(key[1]) == 1]
        ours = peer_paddle.tables_of(
            case.output("--style", "paddle", "--wide", "--sort", "cpu-avg", "--time-unit", "ns", TRACE))
        self.assertEqual([key[1][0] for key, _ in ours["Operator Summary"]], names)


if __name__ == "__main__":
    case.main()
