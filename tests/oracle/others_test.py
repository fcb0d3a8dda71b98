#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of other profilers with something unusual in them, and what they say all the same.

others_test.py PPROF_REPORT. Figures are typed from what each trace was made of, in microseconds.
"""
import json
import os

import case
from case import DATA, Case, Report

US = 1000


class OthersTest(Case):
    def ask(self, name, *options):
        return Report(os.path.join(DATA, name + ".json"), *options)

    def page(self, name, *options):
        """What a reader sees, in one line."""
        done = case.run(os.path.join(DATA, name + ".json"), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return " ".join((done.stdout + done.stderr).decode().split())

    def changed(self, name, change):
        """A sibling: the same trace after `change` of its list of events."""
        with open(os.path.join(DATA, name + ".json")) as file:
            trace = json.load(file)
        change(trace if isinstance(trace, list) else trace["traceEvents"])
        with open(self.path("changed.json"), "w") as file:
            json.dump(trace, file)
        return self.path("changed.json")

    def test_a_raw_control_character(self):
        report = self.ask("raw_control")
        self.assertEqual(report.json["trust"]["recorded"], 10)
        self.assertEqual(report.json["trust"]["lost"], 0)
        self.assertEqual(report.find("operator", "re.py(1): compile [\x01\x02\n\t]")["calls"], 1)
        self.assertIn("4 control characters in texts without their escapes",
                      self.page("raw_control"))

    # ---- what is no process ----

    def check_one_process(self, path):
        report = Report(path)
        self.assertEqual(report.find("device", "GPU0")["utilization"], 80)
        self.assertEqual(len(report.json["inputs"]), 1)
        step = report.find("model", "ProfileStep")
        self.assertEqual((step["calls"], step["cpu_ratio"]), (4, 100))
        return report

    def test_python_functions_of_no_process(self):
        # PyTorch writes 0 for process and thread of what ran before it started.
        pid0 = os.path.join(DATA, "torch_startup_frames_pid0.json")
        usual = self.check_one_process(os.path.join(DATA, "torch_startup_frames_none.json"))
        self.check_one_process(pid0)
        self.assertEqual(Report(pid0).json["views"]["overview"], usual.json["views"]["overview"])
        self.assertIn("4 Python functions of no process left out",
                      self.page("torch_startup_frames_pid0"))
        self.assertIn("4 Python functions", self.page("torch_startup_frames_pid0",
                                                      "--group-by", "stack=2"))
        self.check_one_process(self.changed("torch_startup_frames_pid0", lambda all: all.reverse()))
        # Where the process has nothing else, they are what it did.
        only = self.changed("torch_startup_frames_pid0", lambda all: all.__setitem__(
            slice(None), [event for event in all if event["pid"] == 0 and event.get("tid") == 0]))
        self.assertEqual(Report(only).json["trust"]["recorded"], 4)

    def test_spans_of_profilers(self):
        self.check_one_process(os.path.join(DATA, "torch_second_trace_span.json"))

        def rename(all):
            all[-1].update(name="XpuptiProfiler", pid="Traces", tid=3)
            all.insert(0, all.pop())
        self.check_one_process(self.changed("torch_second_trace_span", rename))

    # ---- what a device's share is of ----

    def test_each_rank_has_its_device(self):
        report = self.ask("two_ranks_own_gpu")
        for device in "GPU0", "GPU1":
            self.assertEqual(report.find("device", device)["utilization"], 90)
        # A process without a device beside them changes nothing.
        third = self.changed("two_ranks_own_gpu", lambda all: all.append(
            {"ph": "X", "cat": "cpu_op", "name": "load", "pid": 1002, "tid": 1,
             "ts": 1700000000000000, "dur": 9000}))
        self.assertEqual(Report(third).find("device", "GPU1")["utilization"], 90)


if __name__ == "__main__":
    case.main()
