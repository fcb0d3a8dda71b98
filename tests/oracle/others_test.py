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


if __name__ == "__main__":
    case.main()
