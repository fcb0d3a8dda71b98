#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/device-timing.md: what makes it, and that it is what the results say."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

GENERATOR = os.path.join("bench", "device_timing.py")
TEMPLATE = os.path.join("bench", "device_timing.md.in")
PAGE = os.path.join("docs", "device-timing.md")


def row(row_id, **fields):
    made = {"part": "host", "id": row_id, "what": "cost | of it",
            "bound": "<= 1.15 x bare", "verdict": "met", "unit": "us",
            "figure_unit": "", "control": 1.4, "value": 1.47,
            "figure": 1.05, "spread": None,
            "figures": {"issued": 12345.0, "nothing": None}, "series": []}
    made.update(fields)
    return made


def result(*rows, **facts):
    made = {"schema": "pprof.bench.device/1", "gpu": "H", "rows": list(rows)}
    made.update(facts)
    return made


def generate(*arguments):
    done = subprocess.run([sys.executable, GENERATOR] + list(arguments),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    return (done.returncode, done.stdout.decode("utf-8"),
            done.stderr.decode("utf-8"))


class GeneratorTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def fill(self, template, *results):
        paths = [self.write("%d.json" % i, json.dumps(made))
                 for i, made in enumerate(results)]
        return generate(self.write("t", template), *paths)

    def page(self, template, *results):
        status, page, error = self.fill(template, *results)
        self.assertEqual((status, error), (0, ""))
        return page

    def problem(self, template, *results):
        status, page, error = self.fill(template, *results)
        self.assertEqual((status, page), (1, ""))
        return error

    def test_figures_have_three_digits_or_the_format_asked_for(self):
        self.assertEqual(
            self.page("{{a.figure}} {{a.issued}} {{a.value:.1f}}",
                      result(row("a"))), "1.05 12 345 1.5")

    def test_summary_takes_the_rows_of_a_bound_together(self):
        page = self.page(
            "{{summary}}{{#missed c}}{{/missed}}",
            result(row("a", what="cost, one", spread=0.98),
                   row("b", what="cost, two", figure=1.1, spread=1.02),
                   row("c", bound="< 5 us", what="error", figure=7,
                       figure_unit="us", verdict="not met"),
                   row("d", bound="", what="not this")))
        self.assertEqual(page.split("\n")[2:], [
            "| cost | ≤ 1.15 × bare | 1.05 to 1.10 | 0.980 to 1.02 | met |",
            "| error | &lt; 5 µs | 7.00 µs | – | **not met** |"])

    def test_summary_counts_the_missed_of_a_bound(self):
        page = self.page("{{summary}}{{#missed b}}{{/missed}}",
                         result(row("a"), row("b", verdict="not met")))
        self.assertIn("| **not met** in 1 of 2 |", page)

    def test_rows_of_a_part(self):
        page = self.page("{{rows gpu}}", result(
            row("a"), row("b", part="gpu", spread=1),
            row("c", part="gpu", bound="", verdict="none", figure=None)))
        self.assertEqual(page.split("\n")[2:], [
            "| cost \\| of it | 1.40 µs | 1.47 µs | 1.05 | 1.00 "
            "| ≤ 1.15 × bare | met |",
            "| cost \\| of it | 1.40 µs | 1.47 µs | – | – |  |  |"])

    def test_shortfalls_say_how_many(self):
        template = "{{shortfalls}}{{#missed b}}{{/missed}}"
        self.assertEqual(self.page(template, result(row("a"))),
                         "None: all 1 are met.\n")
        self.assertEqual(
            self.page(template, result(row("a"),
                                       row("b", verdict="not met"))),
            "1 of 2.\n")

    def test_machine_names_what_differs_once_each(self):
        page = self.page("{{machine}}", result(row("a"), command="x"),
                         result(row("b"), command="y"))
        self.assertIn("| gpu | H |", page)
        self.assertIn("| command | `x`<br>`y` |", page)

    def test_missed_bound_shows_its_explanation(self):
        template = "{{#missed a*}}\nWhy: {{a1.figure}}.\n{{/missed}}\nend"
        self.assertEqual(self.page(template, result(row("a1"))), "end")
        missed = row("a1", verdict="not met")
        self.assertEqual(self.page(template, result(missed)),
                         "Why: 1.05.\nend")

    def test_missed_bound_without_explanation_is_an_error(self):
        self.assertIn("row b misses its bound",
                      self.problem("{{#missed a}}x{{/missed}}", result(
                          row("a"), row("b", verdict="not met"))))

    def test_unknown_figures_are_errors(self):
        for name in ("c.figure", "a.spread", "a.none", "a.nothing", "word",
                     "rows spin"):
            self.problem("{{%s}}" % name, result(row("a")))

    def test_row_in_two_results_is_an_error(self):
        self.assertIn("in two results", self.problem(
            "", result(row("a")), result(row("a"))))

    def test_other_schema_is_an_error(self):
        self.assertIn("not of schema", self.problem(
            "", dict(result(row("a")), schema="x")))


class PageTest(unittest.TestCase):

    def test_page_is_what_the_results_say(self):
        results = sorted(glob.glob(os.path.join("bench", "results", "*.json")))
        self.assertTrue(results)
        status, page, error = generate(TEMPLATE, *results)
        self.assertEqual((status, error), (0, ""))
        with open(PAGE, encoding="utf-8") as file:
            self.assertEqual(page, file.read(), "run bench/device_timing.py")

    def test_results_are_bounded(self):
        paths = glob.glob(os.path.join("bench", "results", "*.json"))
        self.assertLessEqual(sum(map(os.path.getsize, paths)), 300 * 1024)


if __name__ == "__main__":
    unittest.main()
