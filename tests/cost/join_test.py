#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model's cost joined with the times of a log: TOOL MAKE_LOGS

The log good.pplog has two calls of `decode`, 10 ms each, in 100 ms. A call of the model is 500.100.100
MACs: 10 MFLOP, and reads and writes 4.(500.100 + 100.100 + 500.100) = 440 kB."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import onnx
from onnx import Graph, info, node, tensor

TOOL, MAKE_LOGS = (os.path.abspath(path) for path in sys.argv[1:3])


class Join(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        subprocess.run([MAKE_LOGS, cls.folder.name], check=True)
        graph = Graph([node("MatMul", "x,w", "y")], [info("x", ["batch", 100])], "y",
                      [tensor("w", [100, 100])])
        with open(os.path.join(cls.folder.name, "decode.b.onnx"), "wb") as file:
            file.write(onnx.model(graph))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_tool(self, *options, code=0):
        done = subprocess.run([TOOL, *options, "good.pplog"], cwd=self.folder.name,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def row(self, name, *options):
        table = json.loads(self.run_tool("-f", "json", *options))["views"]["stages"]
        names = [column["name"] for column in table["columns"]]
        return next(row for row in (dict(zip(names, cells)) for cells in table["rows"])
                    if row["name"] == name)

    def test_rates_and_mfu(self):
        # 10 MFLOP in 10 ms; of a peak of 2 GFLOP/s.
        row = self.row("decode", "--cost", "decode.b.onnx", "--dim", "batch=500", "--peak", "f32=2G")
        self.assertEqual((row["flop_rate"], row["mac_rate"], row["byte_rate"]), (1.0, 0.5, 0.044))
        self.assertEqual((row["params"], row["peak_type"], row["mfu"]), (0.04, "f32", 50.0))
        other = self.row("detect", "--cost", "decode.b.onnx", "--dim", "batch=500")
        self.assertEqual((other["flop_rate"], other["mfu"]), (None, None))

    def test_roofline_under_memory(self):
        # 10 MFLOP / 440 kB = 22.7 FLOP/B; the ridge is 2 GFLOP/s / 50 MB/s = 40, 1.76 times that;
        # memory allows 22.7 . 50 MB/s = 1.136 GFLOP/s. Of the wall: 20 MFLOP in 100 ms.
        text = self.run_tool("--cost", "decode.b.onnx:deco*", "--dim", "batch=500",
                             "--peak", "f32=2G,bytes=50M")
        self.assertIn(
            "decode, by decode.b.onnx: 10.0 MFLOP f32 a call, 440 kB if nothing is fused, 22.7 FLOP/B.\n"
            "  1.00 GFLOP/s of its own time: MFU 50.0 %, of the wall 10.0 %, of 2.00 GFLOP/s.\n"
            "  Memory-bound: 1.76 times below the ridge of 40.0 FLOP/B; it reaches 88.0 % of what that "
            "allows.\n", text)

    def test_roofline_under_the_peak(self):
        # A ridge of 2 GFLOP/s / 200 MB/s = 10 FLOP/B.
        text = self.run_tool("--cost", "decode.b.onnx", "--dim", "batch=500",
                             "--peak", "f32=2G,bytes=200M")
        self.assertIn("  Compute-bound: 2.27 times above the ridge of 10.0 FLOP/B; it reaches 50.0 % of",
                      text)

    def test_what_is_missing(self):
        text = self.run_tool("--cost", "decode.b.onnx", "--dim", "batch=500")
        self.assertIn("1.00 GFLOP/s of its own time; no peak is known, --peak TYPE=FLOPS says it.", text)
        text = self.run_tool("--cost", "decode.b.onnx", "--dim", "batch=500", "--peak", "f32=2G")
        self.assertIn("Its roofline needs --peak bytes=B, bytes a second.", text)
        text = self.run_tool("--cost", "decode.b.onnx:nowhere", "--dim", "batch=500")
        self.assertIn("No stage is called 'nowhere': --cost decode.b.onnx:STAGE names one.", text)
        text = self.run_tool("--cost", "decode.b.onnx")
        self.assertIn("decode, by decode.b.onnx: at least 0", text)

    def test_models_that_cannot_be_read(self):
        self.assertIn("--cost nothing.onnx: No such file or directory",
                      self.run_tool("--cost", "nothing.onnx", code=3))
        self.assertIn("--dim: 'batch' is no NAME=SIZE",
                      self.run_tool("--cost", "decode.b.onnx", "--dim", "batch", code=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
