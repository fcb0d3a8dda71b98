#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The closing line of `./dev test`: events of a Bazel run in, counts out."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SUMMARY = os.path.join("tools", "test_summary.py")

XML = """<testsuites><testsuite>
<testcase name="a" status="run" result="completed"/>
{more}</testsuite></testsuites>"""
FAILED_CASE = '<testcase name="b"><failure message="no"/></testcase>'
SKIPPED_CASE = '<testcase name="c" status="run" result="skipped"/>'


def configured(label):
    return {"id": {"targetConfigured": {"label": label}},
            "configured": {"testSize": "SMALL"}}


def summary(label, status):
    return {"id": {"testSummary": {"label": label}},
            "testSummary": {"overallStatus": status}}


class TestSummaryTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def result(self, label, more="", attempt=1):
        name = "%s%d.xml" % (label.strip("/:"), attempt)
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(XML.format(more=more))
        return {"id": {"testResult": {"label": label, "run": 1, "shard": 1,
                                      "attempt": attempt}},
                "testResult": {"testActionOutput": [
                    {"name": "test.log", "uri": "file:///nowhere"},
                    {"name": "test.xml", "uri": "file://" + path}]}}

    def last_line(self, events, status=0):
        lines, exit_status = self.lines(events, status)
        return lines[-1], exit_status

    def lines(self, events, status=0):
        path = os.path.join(self.folder.name, "events")
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(event) + "\n" for event in events)
        done = subprocess.run([sys.executable, SUMMARY, path, str(status)],
                              stdout=subprocess.PIPE, text=True, check=False)
        return done.stdout.splitlines(), done.returncode

    def test_counts_cases_of_all_tests(self):
        events = [configured("//:a"), configured("//:b"),
                  self.result("//:a"), summary("//:a", "PASSED"),
                  self.result("//:b", XML.format(more="")),
                  summary("//:b", "PASSED")]
        self.assertEqual(self.last_line(events), ("3 passed, 0 failed", 0))

    def test_failed_case_fails(self):
        events = [configured("//:a"), self.result("//:a", FAILED_CASE),
                  summary("//:a", "FAILED")]
        self.assertEqual(self.last_line(events, 3),
                         ("1 passed, 1 failed", 1))

    def test_test_that_did_not_build_is_one_failure(self):
        events = [configured("//:a"), configured("//:b"),
                  self.result("//:a"), summary("//:a", "PASSED")]
        self.assertEqual(self.last_line(events, 1),
                         ("1 passed, 1 failed", 1))

    def test_crash_after_its_cases_passed_is_one_failure(self):
        events = [configured("//:a"), self.result("//:a"),
                  summary("//:a", "FAILED")]
        self.assertEqual(self.last_line(events, 3),
                         ("1 passed, 1 failed", 1))

    def test_second_attempt_does_not_help(self):
        events = [configured("//:a"),
                  self.result("//:a", FAILED_CASE, attempt=1),
                  self.result("//:a", attempt=2), summary("//:a", "FLAKY")]
        self.assertEqual(self.lines(events),
                         (["//:a: FLAKY, 1 failed", "2 passed, 1 failed"], 1))

    def test_skipped_case_is_neither(self):
        events = [configured("//:a"), self.result("//:a", SKIPPED_CASE),
                  summary("//:a", "PASSED")]
        self.assertEqual(self.last_line(events), ("1 passed, 0 failed", 0))

    def test_broken_build_without_tests_fails(self):
        self.assertEqual(self.last_line([], 1), ("0 passed, 1 failed", 1))

    def test_no_test_at_all_fails(self):
        self.assertEqual(self.last_line([], 0), ("0 passed, 1 failed", 1))


if __name__ == "__main__":
    unittest.main()
