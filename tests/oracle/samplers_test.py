#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profilers that sample and the kernel's tracer write: read, or refused by what it is.

samplers_test.py PPROF_REPORT. The files are of tests/peers/sampler_programs.py: perf 6.1.187, py-spy
0.4.3, ftrace of Linux 6.18 with what Perfetto 52.0 converts it to, and Firefox 153.7.0, of whose
profile the first two of each list are kept.
"""
import os
import sys

import case
from case import DATA, Case

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(case.__file__)), "..", "peers"))
import common


class SamplersTest(Case):
    def test_chrometrace_of_py_spy(self):
        peer = common.Peer("py-spy", sys.executable, case.PROGRAM, DATA)
        row = common.compare_sums(peer, "pyspy_small.json", "calls and total")
        self.assertEqual(row.unexplained, [])
        # A range is of one line: `root` has two, four times.
        rows = {line["name"]: line["calls"]
                for line in peer.rows("tree", "--flat", "pyspy_small.json")}
        self.assertEqual(rows, {"<module>": 1, "root": 8, "branch": 4, "leaf": 10})

    def test_refused(self):
        for name, words in (
                ("perf_small.data", "samples of perf, which have no ranges; speedscope opens what"),
                ("perf_small.json", "samples of perf, which have no ranges; speedscope opens what"),
                ("pyspy_small.speedscope.json", "a profile of speedscope; what it was made from"),
                ("firefox_small.json", "a profile of the Firefox profiler, which has samples;"),
                ("ftrace_small.txt", "ftrace's text, which ui.perfetto.dev opens"),
                ("ftrace_small.json", "ftrace's text, which ui.perfetto.dev opens")):
            done = case.run("--flat", os.path.join(DATA, name))
            self.assertNotEqual(done.returncode, 0, name)
            self.assertIn(f"{name}: not a Chrome trace: {words}", done.stderr.decode())
            self.assertEqual(done.stdout, b"")


if __name__ == "__main__":
    case.main()
