#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model's cost joined with the times of a log: TOOL MAKE_LOGS HELLO

The log good.pplog has two calls of `decode`, 10 ms each, in 100 ms. A call of the model is 500.100.100
MACs: 10 MFLOP, and reads and writes 4.(500.100 + 100.100 + 500.100) = 440 kB."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import models
from models import Graph, info, node, tensor

sys.path.insert(0, os.path.abspath(os.path.join("tests", "support")))
from page_parts import part  # noqa: E402

TOOL, MAKE_LOGS, HELLO = (os.path.abspath(path) for path in sys.argv[1:4])


class Join(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        subprocess.run([MAKE_LOGS, cls.folder.name], check=True)
        graph = Graph([node("MatMul", "x,w", "y")], [info("x", ["batch", 100])], "y",
                      [tensor("w", [100, 100])])
        with open(os.path.join(cls.folder.name, "decode.b.onnx"), "wb") as file:
            file.write(models.model(graph))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def done(self, *words, code=0):
        done = subprocess.run([TOOL, *words], cwd=self.folder.name, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def run_tool(self, *options, code=0, log="good.pplog"):
        done = self.done(*options, log, code=code)
        return done.stdout if code == 0 else done.stderr

    def stages(self, *options):
        return self.run_tool("--view", "stages", *options)

    def row(self, name, *options):
        table = json.loads(self.stages("-f", "json", *options))["views"]["stages"]
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
        text = self.stages("--cost", "decode.b.onnx:deco*", "--dim", "batch=500",
                           "--peak", "f32=2G,bytes=50M")
        self.assertIn(
            "decode, by decode.b.onnx: 10.0 MFLOP f32 a call, 440 kB if nothing is fused, 22.7 FLOP/B.\n"
            "  1.00 GFLOP/s of its own time: MFU 50.0 %, of the wall 10.0 %, of 2.00 GFLOP/s.\n"
            "  Memory-bound: 1.76 times below the ridge of 40.0 FLOP/B; it reaches 88.0 % of what that "
            "allows.\n", text)

    def test_roofline_under_the_peak(self):
        # A ridge of 2 GFLOP/s / 200 MB/s = 10 FLOP/B.
        text = self.stages("--cost", "decode.b.onnx", "--dim", "batch=500",
                           "--peak", "f32=2G,bytes=200M")
        self.assertIn("  Compute-bound: 2.27 times above the ridge of 10.0 FLOP/B; it reaches 50.0 % of",
                      text)

    def test_what_is_missing(self):
        text = self.stages("--cost", "decode.b.onnx", "--dim", "batch=500")
        self.assertIn("1.00 GFLOP/s of its own time; no peak is known, --peak TYPE=FLOPS says it.", text)
        text = self.stages("--cost", "decode.b.onnx", "--dim", "batch=500", "--peak", "f32=2G")
        self.assertIn("Its roofline needs --peak bytes=B, bytes a second.", text)
        self.assertIn("decode, by decode.b.onnx: at least 0", self.stages("--cost", "decode.b.onnx"))
        done = self.done("--cost", "decode.b.onnx:nowhere", "--dim", "batch=500", "good.pplog")
        self.assertIn("no stage is called 'nowhere': decode.b.onnx:STAGE names one", done.stderr)
        done = self.done("--view", "stages", "--peak", "f32=2G@nowhere,bytes=1G@deco*", "good.pplog")
        self.assertEqual(
            done.stderr, "pprof-report: no stage is called 'nowhere': the peak of f32 is for none\n")

    def findings(self, *options, log="good.pplog"):
        found = json.loads(self.run_tool("-f", "json", *options, log=log))["findings"]
        return [finding for finding in found if finding["id"] == "roofline"]

    def test_the_default_report_says_it(self):
        options = ("--cost", "decode.b.onnx", "--dim", "batch=500", "--peak", "f32=2G,bytes=50M")
        found, = self.findings(*options)
        self.assertEqual(
            found["text"],
            "decode does 1.00 GFLOP/s: MFU 50 % of its own time, 10 % of the wall, of 2.00 GFLOP/s in "
            "f32. Memory-bound: 22.7 FLOP/B is 1.76 times below the ridge of 40.0; it reaches 88 % of "
            "what the roof allows.")
        self.assertEqual(found["key"], "roofline/decode")
        self.assertIn("roofline", self.run_tool(*options))
        self.assertEqual(self.findings(), [])
        self.assertIn("MFU 50 % of its own time", self.page(*options))

    def page(self, *options):
        self.done("html", "--force", "-o", "page.html", *options, "good.pplog")
        with open(os.path.join(self.folder.name, "page.html"), encoding="utf-8") as file:
            return part(file.read(), "report").decode()

    def test_the_configuration_of_a_run(self):
        # What a run had asked for is what options say; an option goes before its key.
        config = "cost={models: ['decode.b.onnx:postprocess'], dims: [batch=500], " \
            "peaks: [f32=2G, bytes=50M]}"
        subprocess.run([HELLO], cwd=self.folder.name, check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "PPROF_SET": config, "PPROF_OUTPUT": "hello.pplog"})
        config, = self.findings(log="hello.pplog")
        asked = ("--cost", "decode.b.onnx:postprocess", "--dim", "batch=500")
        options, = self.findings(*asked, "--peak", "f32=2G,bytes=50M", log="hello.pplog")
        self.assertEqual(config, options)
        half, = self.findings("--peak", "f32=4G,bytes=50M", log="hello.pplog")
        self.assertAlmostEqual(self.value(half, "mfu"), self.value(config, "mfu") / 2, places=5)
        other, = self.findings("--cost", "decode.b.onnx:frame", log="hello.pplog")
        self.assertEqual(other["key"], "roofline/frame")
        os.rename(os.path.join(self.folder.name, "decode.b.onnx"),
                  os.path.join(self.folder.name, "away"))
        try:
            done = self.done("hello.pplog")
        finally:
            os.rename(os.path.join(self.folder.name, "away"),
                      os.path.join(self.folder.name, "decode.b.onnx"))
        self.assertIn("cost.models decode.b.onnx", done.stderr)
        self.assertIn("postprocess", done.stdout)

    @staticmethod
    def value(finding, name):
        return next(value["value"] for value in finding["values"] if value["name"] == name)

    def test_models_that_cannot_be_read(self):
        self.assertIn("--cost nothing.onnx: No such file or directory",
                      self.run_tool("--cost", "nothing.onnx", code=3))
        self.assertIn("--dim: 'batch' is no NAME=SIZE",
                      self.run_tool("--cost", "decode.b.onnx", "--dim", "batch", code=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
