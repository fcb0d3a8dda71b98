#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JSON reports are what docs/report.schema.json says; --compact is small; keys of findings stay.
The schema is read by the program of tests/config/json_schema_test.py, and where it is installed
by the package jsonschema, too."""
import copy
import json
import os
import sys

import export_case

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))),
                                "config"))
from json_schema_test import faults  # noqa: E402

with open("docs/report.schema.json", encoding="utf-8") as file:
    SCHEMA = json.load(file)
MOST = 8000
# Names that differ in numbers alone are one.
LETTERS = "abcdefghijklmnopqrst"


def wrong(report):
    found = faults(SCHEMA, report, SCHEMA)
    try:
        import jsonschema
    except ImportError:
        return found
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    theirs = [error.message for error in
              jsonschema.Draft202012Validator(SCHEMA).iter_errors(report)]
    assert bool(found) == bool(theirs), (found, theirs)
    return found


class Reports(export_case.Case):

    def report(self, *options):
        done = self.call(*options, "-f", "json")
        self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(done.stdout), done.stdout

    def test_reports_validate(self):
        for options in ([], ["--compact"], ["--style", "answer"], ["--view", "stages,requests"],
                        ["--tree"], ["--style", "torch"], ["--style", "nsys"]):
            for inputs in (["rich.pplog"], ["rich.pplog", "other.pplog"]):
                report, _ = self.report(*inputs, *options)
                self.assertEqual([], wrong(report), options)

    def test_what_the_schema_refuses(self):
        good, _ = self.report("rich.pplog", "--compact")
        self.assertTrue(good["findings"])

        def broken(change):
            bad = copy.deepcopy(good)
            change(bad)
            return wrong(bad)

        self.assertTrue(broken(lambda bad: bad.pop("trust")))
        self.assertTrue(broken(lambda bad: bad.update(more=1)))
        self.assertTrue(broken(lambda bad: bad.update(schema="pprof.report/2")))
        self.assertTrue(broken(lambda bad: bad["findings"][0].pop("key")))
        self.assertTrue(broken(lambda bad: bad["findings"][0].update(kind="other")))
        self.assertTrue(broken(lambda bad: bad["views"]["answer"].pop("columns")))

    def test_compact_is_the_report_with_less(self):
        whole, _ = self.report("rich.pplog", "--style", "answer")
        small, text = self.report("rich.pplog", "--compact")
        self.assertLessEqual(len(text), MOST)
        self.assertEqual(whole["answer"], small["answer"])
        self.assertEqual(whole["findings"], small["findings"])
        names = [column["name"] for column in small["views"]["answer"]["columns"]]
        self.assertEqual(["name", "inside", "where", "time_avg", "share", "p50", "p99", "max",
                          "calls_avg"], names)
        self.assertEqual([row[:9] for row in whole["views"]["answer"]["rows"]],
                         small["views"]["answer"]["rows"])
        self.assertEqual({"findings": 0, "rows": 0, "notes": 0, "inputs": 0}, small["left_out"])
        for name, value in small["trust"].items():
            self.assertEqual(whole["trust"][name], value)

    def test_it_stays_small(self):
        """A trace of 300 stages with long names in a hundred processes."""
        events = []
        for i in range(300):
            events.append({"ph": "X", "cat": "x", "pid": i % 100 + 1, "tid": 1, "ts": i * 100,
                           "dur": 50 + i, "name": "\u00e9\x01" * 200 + LETTERS[i // 20] + LETTERS[i % 20]})
        with open(self.path("wide.json"), "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)
        report, text = self.report("wide.json", "--compact")
        self.assertLessEqual(len(text), MOST)
        self.assertEqual([], wrong(report))
        self.assertGreater(report["left_out"]["rows"], 0)
        self.assertGreater(report["left_out"]["inputs"], 0)
        whole, _ = self.report("wide.json", "--style", "answer")
        self.assertEqual(len(whole["views"]["answer"]["rows"]),
                         len(report["views"]["answer"]["rows"]) + report["left_out"]["rows"])
        self.assertEqual(len(whole["findings"]),
                         len(report["findings"]) + report["left_out"]["findings"])

    def test_keys_are_one_each_and_stay(self):
        def keys(*inputs):
            report, _ = self.report(*inputs, "--compact")
            for finding in report["findings"]:
                self.assertEqual(finding["id"], finding["key"].split("/")[0])
            return [finding["key"] for finding in report["findings"]]

        first = keys("rich.pplog")
        self.assertEqual(len(first), len(set(first)))
        # The same run of another process, with other times of day.
        self.assertEqual(first, keys("other.pplog"))

    def test_keys_name_stages(self):
        """The longest name at a place, as a word of its own, each once."""
        events = [{"ph": "X", "cat": "x", "pid": 1, "tid": 1, "ts": start,
                   "dur": length, "name": name}
                  for name, start, length in (("load data", 0, 900), ("load", 900, 50))]
        with open(self.path("load.json"), "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)
        report, _ = self.report("load.json", "--compact")
        self.assertIn("dominates/load data", [finding["key"] for finding in report["findings"]])

    def test_usage(self):
        for options in (["--compact"], ["--compact", "-f", "csv"],
                        ["--compact", "-f", "json", "--tree"],
                        ["--compact", "-f", "json", "--view", "stages"]):
            done = self.call("rich.pplog", *options)
            self.assertEqual(2, done.returncode)
            self.assertIn(b"'--compact' is a form of '-f json' alone", done.stderr)

    def test_page_for_agents(self):
        """Its five commands run."""
        with open("docs/quickstart.md", encoding="utf-8") as page:
            section = page.read().split("\n## For agents and scripts\n")[1]
        lines = [line for line in section.splitlines() if line.startswith("pprof-report ")]
        self.assertGreaterEqual(len(lines), 5)
        for line in lines:
            words = line.split("#")[0].replace("LOG", "rich.pplog").replace(
                "BEFORE", "rich.pplog").replace("AFTER", "other.pplog")
            done = self.call(*__import__("shlex").split(words)[1:])
            self.assertIn(done.returncode, (0, 5), (line, done.stderr))


if __name__ == "__main__":
    export_case.main()
