#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""opencl_kernels_test.py TOOL PROGRAM LIBRARY GOLDEN: an unchanged program of OpenCL
under `pprof-report run --kernels`, on whatever device the machine has: PoCL's CPU.

GOLDEN is what Paddle's tables then are, with `#` for every time.
SET_EXACT_OUTPUT=1 writes it anew.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

TOOL, PROGRAM, LIBRARY, GOLDEN = map(os.path.abspath, sys.argv[1:5])


def masked(text):
    """Without times and what their widths make of the lines."""
    text = re.sub(r"\d+\.\d+(us|ms|%)?", "#", text)
    text = re.sub(r"-{3,}", "---", text)
    return re.sub(r" +", " ", text)


class OpenclKernelsTest(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = home.name
        self.env = dict(os.environ, XDG_RUNTIME_DIR=home.name, HOME=home.name,
                        POCL_CACHE_DIR=os.path.join(home.name, "pocl"))
        for name in list(self.env):
            if name.startswith("PPROF_") or name.endswith("INJECTION64_PATH"):
                del self.env[name]
        self.env.pop("OPENCL_LAYERS", None)

    def tool(self, *arguments, **more):
        done = subprocess.run([TOOL, *arguments], env=dict(self.env, **more), cwd=self.home,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        return done

    def train(self, *more, **variables):
        """What the program printed, {kernel: ns}, and the path of the log."""
        done = self.tool("run", *more, "--library", LIBRARY, "--logs", "logs", PROGRAM,
                         **variables)
        said = dict(line.split() for line in done.stdout.splitlines()
                    if re.match(r"(gemm|relu) \d+$", line))
        logs = os.listdir(os.path.join(self.home, "logs"))
        self.assertEqual(1, len(logs), logs)
        return {name: int(ns) for name, ns in said.items()}, os.path.join("logs", logs[0])

    def views(self, log, *arguments):
        """{view: [{column: value}]}, of JSON; and the report."""
        report = json.loads(self.tool(*arguments, "-f", "json", log).stdout)
        return {name: [dict(zip([column["name"] for column in view["columns"]], row))
                       for row in view["rows"]]
                for name, view in report["views"].items()}, report

    def test_tables_are_filled(self):
        _, log = self.train("--kernels")
        text = masked(self.tool("--wide", "--view",
                                "device,operator,kernel,memory_manipulation", log).stdout.split("\nIdentity")[0])
        # Rows are in the order of times, which are the machine's.
        text = "\n".join(sorted(text.splitlines())) + "\n"
        if os.environ.get("SET_EXACT_OUTPUT") == "1":
            with open(GOLDEN, "w", encoding="utf-8") as file:
                file.write(text)
        with open(GOLDEN, encoding="utf-8") as file:
            self.assertEqual(file.read(), text)

    def test_times_are_those_of_the_programs_own_events(self):
        """To what rounding to ticks of the clock and back may take: 2 ns each."""
        own, log = self.train("--kernels")
        views, _ = self.views(log, "--view", "kernel,memory_manipulation,launches")
        kernels = {row["name"]: row for row in views["kernel"]}
        self.assertEqual({"gemm": 3, "relu": 6},
                         {name: row["calls"] for name, row in kernels.items()})
        for name, row in kernels.items():
            self.assertAlmostEqual(own[name], row["device_total"], delta=2 * row["calls"])
        self.assertEqual({"MEMCPY_DtoH": 3, "MEMCPY_HtoD": 3, "MEMSET": 3},
                         {row["name"]: row["calls"] for row in views["memory_manipulation"]})
        self.assertEqual({("gemm", "4x16x1", "16x4x1"), ("relu", "256x1x1", "16x1x1")},
                         {(row["name"], row["grid"], row["block"])
                          for row in views["launches"]})

    def test_each_command_belongs_to_its_stage(self):
        _, log = self.train("--kernels")
        views, report = self.views(log, "--tree", "--kernel-tree")
        stages = {row["path"]: (row["kernels"], row["copies"])
                  for row in views["tree"] if row["where"] == "host" and row["launches"]}
        self.assertEqual({"load": (0, 3), "forward": (6, 3), "forward / matmul": (3, 3)},
                         stages)
        device = report["identity"]["devices"][0]
        self.assertEqual(("opencl:0", 18, 12, 6, True),
                         tuple(device[key] for key in ["device", "work", "work_in_ranges",
                                                       "work_in_none", "ok"]))

    def test_a_program_that_nobody_traces_is_left_alone(self):
        """Its queues are without profiling then, as it made them."""
        done = subprocess.run([PROGRAM], env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((1, "start: -7\n"), (done.returncode, done.stderr))

    def test_layers_of_others_stay(self):
        """One that is not there is the loader's to complain of."""
        _, log = self.train("--kernels", OPENCL_LAYERS="/nonexistent/libother.so")
        views, _ = self.views(log, "--view", "kernel")
        self.assertEqual(2, len(views["kernel"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
