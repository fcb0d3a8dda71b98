#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model beside traces of ONNX Runtime that are made by hand: TOOL"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import models
from models import Graph, info, node, tensor

TOOL = os.path.abspath(sys.argv[1])


def event(name, ts, us, cat="Node", op="MatMul"):
    args = {"op_name": op} if cat == "Node" else {}
    return {"cat": cat, "pid": 1, "tid": 1, "ts": ts, "dur": us, "ph": "X", "name": name, "args": args}


class Times(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        graph = Graph([node("MatMul", "x,w", "a", "/up/MatMul"), node("Relu", "a", "b", "/bend"),
                       node("MatMul", "b,w", "y", "/down/MatMul")],
                      [info("x", [10, 100])], "y", [tensor("w", [100, 100])])
        with open(cls.path("model.onnx"), "wb") as file:
            file.write(models.model(graph))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def run_tool(self, events, *options, code=0, model="model.onnx"):
        with open(self.path("trace.json"), "w", encoding="utf-8") as file:
            json.dump(events, file)
        done = subprocess.run([TOOL, "cost", model, "--times", "trace.json", *options],
                              cwd=self.folder.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def rows(self, events, *options):
        told = json.loads(self.run_tool(events, "--by", "node", "-f", "json", *options))
        names = [column["name"] for column in told["columns"]]
        return [dict(zip(names, row)) for row in told["rows"]], told["notes"]

    def test_what_ran_is_another_model(self):
        # 30 of 40 us are of a node that is none; 200 000 FLOPs in 10 us are 20 GFLOP/s.
        rows, notes = self.rows([event("/up/MatMul_kernel_time", 110, 10),
                                 event("fused_kernel_time", 130, 30),
                                 event("model_run", 100, 80, "Session")])
        self.assertEqual([row["time"] for row in rows], [10000, None, None])
        self.assertEqual((rows[0]["time_share"], rows[0]["flop_rate"]), (25.0, 20.0))
        self.assertIn("Time: the mean of 1 run, 0.08 ms; in nodes 0.04 ms, 1 of 3 of the model's",
                      notes)
        self.assertTrue(any(note.startswith("75.0 % of that is of nodes that the model does not have")
                            for note in notes), notes)

    def test_rates_are_of_what_was_timed(self):
        # Of the two MatMuls one has a time.
        told = json.loads(self.run_tool(
            [event("/up/MatMul_kernel_time", 110, 10), event("model_run", 100, 80, "Session")],
            "--by", "operator", "-f", "json"))
        names = [column["name"] for column in told["columns"]]
        matmul = dict(zip(names, told["rows"][0]))
        self.assertEqual((matmul["flops"], matmul["flop_rate"]), (400000, 20.0))

    def test_without_runs_it_is_a_call(self):
        rows, notes = self.rows([event("/bend_kernel_time", 10, 4, op="Relu"),
                                 event("/bend_kernel_time", 20, 8, op="Relu")])
        self.assertEqual(rows[1]["time"], 6000)
        self.assertTrue(any(note.startswith("Time: the mean call of each node") for note in notes))

    def test_what_holds_others_has_none(self):
        branch = Graph([node("Relu", "x", "z", "/inner")], [], "z")
        graph = Graph([node("If", "c", "y", "/choice", then_branch=branch, else_branch=branch)],
                      [info("x", [4, 4]), info("c", [], models.BOOL)], "y")
        with open(self.path("branches.onnx"), "wb") as file:
            file.write(models.model(graph))
        text = self.run_tool([event("/choice_kernel_time", 10, 9, op="If"),
                              event("/inner_kernel_time", 12, 5, op="Relu"),
                              event("model_run", 5, 50, "Session")], model="branches.onnx")
        self.assertIn("in nodes 0.01 ms", text)

    def test_what_cannot_be_joined(self):
        one = [event("/up/MatMul_kernel_time", 110, 10), event("model_run", 100, 80, "Session")]
        self.assertIn("trace.json: --step 1: it has 1 runs, counted from 0",
                      self.run_tool(one, "--step", "1", code=2))
        self.assertIn("trace.json: no range is of a node of this model",
                      self.run_tool([event("fused_kernel_time", 1, 2)], code=3))
        for options, what, code in ((("--step", "1"), "--step needs --times", 2),
                                    (("--style", "deepspeed", "-f", "json"), "leave out '-f json'", 2),
                                    (("--times", "nothing.json"), "nothing.json: ", 3)):
            done = subprocess.run([TOOL, "cost", "model.onnx", *options], cwd=self.folder.name,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(what, done.stderr)

    def test_ranges_called_as_nodes(self):
        # Any trace will do whose ranges are called so.
        rows, _ = self.rows([event("/down/MatMul", 10, 40, "cpu_op"), event("other", 60, 5, "cpu_op")])
        self.assertEqual([row["time"] for row in rows], [None, None, 40000])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
