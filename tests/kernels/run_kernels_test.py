#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_kernels_test.py TOOL PROGRAM CUPTI DRIVER LIBRARY GOLDEN: a program under
`pprof-report run`, with kernels and without.

PROGRAM plays what CUPTI, a stand-in, tells of. GOLDEN is what the tables of
Paddle and of torch then are, with `#` for every time.
SET_EXACT_OUTPUT=1 writes it anew.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

TOOL, PROGRAM, CUPTI, DRIVER, LIBRARY, GOLDEN = map(os.path.abspath, sys.argv[1:7])


def masked(text):
    """Without times and what their widths make of the lines."""
    text = re.sub(r"\d+\.\d+(us|ms|%)?", "#", text)
    text = re.sub(r"-{3,}", "---", text)
    return re.sub(r" +", " ", text)


class RunKernelsTest(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = home.name
        self.env = dict(os.environ, XDG_RUNTIME_DIR=home.name, PPROF_CUPTI_PATH=CUPTI)
        for name in ["PPROF_CONFIG", "PPROF_OUTPUT", "PPROF_ENABLE", "PPROF_SET",
                     "NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"]:
            self.env.pop(name, None)

    def tool(self, *arguments, **more):
        done = subprocess.run([TOOL, *arguments], env=dict(self.env, **more), cwd=self.home,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        return done

    def train(self, **more):
        """The path of the log."""
        self.tool("run", "--kernels", "--library", LIBRARY, "--logs", "logs", PROGRAM, CUPTI,
                  DRIVER, **more)
        logs = os.listdir(os.path.join(self.home, "logs"))
        self.assertEqual(1, len(logs), logs)
        return os.path.join("logs", logs[0])

    def rows(self, log, *arguments):
        """{view: [{column: value}]}, of JSON."""
        views = json.loads(self.tool(*arguments, "-f", "json", log).stdout)["views"]
        return {name: [dict(zip([column["name"] for column in view["columns"]], row))
                       for row in view["rows"]]
                for name, view in views.items()}

    def test_tables_are_filled(self):
        log = self.train()
        paddle = self.tool("--wide", "--view", "device,operator,kernel,memory_manipulation",
                           log).stdout
        torch = self.tool("--wide", "--style", "torch", log).stdout.split("\nIdentity")[0]
        # Torch's rows are in the order of host times, which are the machine's.
        launches = self.tool("--wide", "--view", "launches", log).stdout
        text = masked(paddle.split("\nIdentity")[0]) + masked(
            launches.split("\nIdentity")[0]) + "\n".join(
            sorted(masked(torch).splitlines())) + "\n"
        if os.environ.get("SET_EXACT_OUTPUT") == "1":
            with open(GOLDEN, "w", encoding="utf-8") as file:
                file.write(text)
        with open(GOLDEN, encoding="utf-8") as file:
            self.assertEqual(file.read(), text)

    def test_figures_are_those_of_the_device(self):
        """Lengths are the program's, in the clock's ticks, which it knows to 2 %."""
        views = self.rows(self.train(), "--view", "device,kernel,memory_manipulation,operator")
        expected = {"void gemm<float>(float*, int)": (9, 9.0), "relu": (3, 1.5),
                    "stray": (3, 0.75)}
        kernels = {row["name"]: row for row in views["kernel"]}
        self.assertEqual(set(expected), set(kernels))
        for name, (calls, total_ms) in expected.items():
            self.assertEqual(calls, kernels[name]["calls"])
            self.assertAlmostEqual(1, kernels[name]["device_total"] / 1e6 / total_ms, delta=0.02)
        memory = {row["name"]: row for row in views["memory_manipulation"]}
        self.assertEqual({"MEMCPY_HtoD", "MEMSET"}, set(memory))
        operator = views["operator"][0]
        self.assertEqual(("matmul", 6), (operator["name"], operator["calls"]))
        # Nine gemm and three sets.
        self.assertAlmostEqual(1, operator["device_total"] / 9.3e6, delta=0.02)

    def test_launches_are_told_with_what_they_can_fill(self):
        """256 threads of 64 registers on an A100: half of its warps."""
        rows = self.rows(self.train(), "--view", "launches")["launches"]
        self.assertEqual({("gemm", 9), ("relu", 3), ("stray", 3)},
                         {(row["name"], row["calls"]) for row in rows})
        for row in rows:
            self.assertEqual(("132x1x1", "256x1x1", 64, 1024, 50.0, "registers"),
                             tuple(row[column] for column in
                                   ["grid", "block", "registers", "shared_memory",
                                    "occupancy", "limited_by"]))

    def test_kernels_of_a_graph_lie_where_they_were_captured(self):
        """Inside the range around the launch; what is in both counts once."""
        by = {}
        for graphs in ["launch", "capture"]:
            log = self.train(LAUNCH_GRAPH="1", PPROF_SET="devices.graph_kernels=" + graphs)
            by[graphs] = {row["path"].replace(" / ", "/"): (row["kernels"], row["launches"])
                          for row in self.rows(log, "--kernel-tree")["tree"] if row["kernels"]}
            os.rename(os.path.join(self.home, "logs"), os.path.join(self.home, graphs))
        self.assertEqual({"decode": (6, 3)}, by["launch"])
        self.assertEqual({"decode": (6, 3), "decode/build": (6, 3), "decode/build/model": (6, 3),
                          "decode/build/model/head": (3, 3)}, by["capture"])

    def test_waits_and_memory_are_told_and_all_calls_where_they_are_asked(self):
        names = {}
        for calls in ["off", "on"]:
            log = self.train(LAUNCH_CALLS="1", PPROF_SET="devices.calls=" + calls)
            rows = self.rows(log, "--style", "nsys")["cuda_api_sum"]
            names[calls] = {row["Name"]: row["Num Calls"] for row in rows}
            tree = self.rows(log, "--kernel-tree")["tree"]
            self.assertEqual([("serve", 3, 3)],
                             [(row["path"], row["kernels"], row["launches"]) for row in tree
                              if row["kernels"]])
            memory = self.rows(log, "--view", "memory")["memory"]
            self.assertEqual(
                [(None, "gpu:0", "Reserved", 3, 3, 9 << 20, 9 << 20, 3 << 20),
                 ("serve", "gpu:0", "Reserved", 3, 3, 9 << 20, 9 << 20, None)],
                [tuple(row[column] for column in
                       ["name", "place", "type", "allocation_count", "free_count",
                        "allocation_size", "free_size", "peak"]) for row in memory])
            os.rename(os.path.join(self.home, "logs"), os.path.join(self.home, calls))
        self.assertEqual({"cudaMalloc": 3, "cudaStreamSynchronize": 3, "cuMemFree_v2": 3},
                         names["off"])
        self.assertEqual({"cudaMalloc": 3, "cudaLaunchKernel": 3, "cudaStreamSynchronize": 3,
                          "cuMemFree_v2": 3}, names["on"])

    def test_kernels_are_of_the_request_whose_range_another_thread_serves(self):
        """Two requests begin on one thread; another one launches for both."""
        rows = self.rows(self.train(LAUNCH_FLOWS="1"), "--view", "requests")["requests"]
        stages = {row["name"]: row for row in rows}
        self.assertEqual(2, stages["(request)"]["requests"])
        self.assertEqual(2, stages["relu"]["requests"])
        self.assertEqual(2, stages["relu"]["calls"])

    def test_a_program_that_launches_nothing_ends_as_it_would(self):
        """CUDA ends before the session does: a call of CUPTI behind that ends the process."""
        log = self.train(LAUNCH_NOTHING="1")
        self.assertIn("look for devices", self.tool("--view", "stages", log).stdout)

    def test_a_device_that_nothing_times_ends_with_what_would(self):
        """4 is what a driver says that has ended with the process, as CUDA's does."""
        for style in ["answer", "paddle"]:
            done = self.tool("run", "--library", LIBRARY, "--style", style, PROGRAM, DRIVER,
                             FAKE_CUDA_FAIL="cuDeviceGetCount=4")
            self.assertIn("cuda: used, and nothing timed its work. Next: pprof-report run "
                          "--kernels\n", done.stderr[-400:])
        done = self.tool("run", "--library", LIBRARY, PROGRAM, DRIVER)
        self.assertNotIn("--kernels", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
