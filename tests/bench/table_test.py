#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of `./dev bench`, made of programs that only print rows, and docs/performance.md, which
is made of results."""
import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TABLE = os.path.join("bench", "table.py")
PAGE = os.path.join("docs", "performance.md")


class TableTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        os.mkdir(os.path.join(self.folder, "bench"))

    def program(self, name, script):
        path = os.path.join(self.folder, "bench", name)
        with open(path, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\n" + script)
        os.chmod(path, 0o755)

    def table(self, *only):
        arguments = [part for name in only for part in ("--only", name)]
        done = subprocess.run([sys.executable, TABLE, self.folder, *arguments],
                              stdout=subprocess.PIPE, text=True, check=False)
        return done.stdout.splitlines(), done.returncode

    def rows(self, lines):
        cells = [[cell.strip() for cell in line.split("|")[1:-1]]
                 for line in lines if line.startswith("|")]
        return cells[2:]

    def test_bounds_are_the_most_the_least_or_none(self):
        self.program("cpu", "printf 'row\\ta\\t2\\tns\\t3\\nrow\\tb\\t4\\tx\\t3\\n'\n"
                     "printf 'row\\tc\\t4\\tx\\t-5\\nrow\\td\\t9\\tns\\t0\\n'\n")
        lines, status = self.table("cpu")
        self.assertEqual(self.rows(lines), [["a", "2", "ns", "<= 3", "yes"],
                                            ["b", "4", "x", "<= 3", "NO"],
                                            ["c", "4", "x", ">= 5", "NO"],
                                            ["d", "9", "ns", "", ""]])
        self.assertEqual(status, 0)

    def test_each_kind_has_a_table_of_its_own(self):
        self.program("cpu", "printf 'row\\ta\\t2\\tns\\t3\\n'\n")
        self.program("chrome", "printf 'row\\tb\\t4\\tx\\t3\\n'\n")
        lines, _ = self.table("chrome", "cpu")
        heads = [i for i, line in enumerate(lines) if ", load " in line]
        self.assertEqual([lines[i].split(":")[0] for i in heads],
                         ["Markers", "Comparing, traces, imports, exports"])
        self.assertEqual([row[0] for row in self.rows(lines[heads[0]:heads[1]])], ["a"])
        self.assertEqual([row[0] for row in self.rows(lines[heads[1]:])], ["b"])

    def test_what_lacks_something_is_left_out_and_said(self):
        self.program("cpu", "printf 'row\\ta\\t2\\tns\\t3\\n'\n")
        lines, status = self.table("cpu", "growth")
        self.assertEqual(len(self.rows(lines)), 1)
        path = os.path.join(self.folder, "bench", "growth")
        self.assertEqual(lines[-1], f"growth: left out, {path} is not there")
        self.assertEqual(status, 0)

    def test_what_does_not_end_well_fails_with_its_rows(self):
        self.program("cpu", "echo why; printf 'row\\ta\\t2\\tns\\t3\\n'; exit 3\n")
        lines, status = self.table("cpu")
        self.assertIn("why", lines)
        self.assertEqual(len(self.rows(lines)), 1)
        self.assertEqual(lines[-1], "cpu: did not end well, see above")
        self.assertEqual(status, 1)

    def test_arguments_are_those_of_the_benchmark(self):
        for name, expected in (("cpu", "200"), ("chrome", "")):
            self.program(name, 'printf "row\\t-$*-\\t2\\tns\\t3\\n"\n')
            lines, status = self.table(name)
            self.assertEqual(self.rows(lines)[0][0], f"-{expected}-")
            self.assertEqual(status, 0)

    def test_nothing_at_all_fails(self):
        self.assertEqual(self.table("growth")[1], 1)

    def test_shared_library_is_found_but_no_argument(self):
        self.program("markers_shared", 'printf "row\\t$# ${LD_LIBRARY_PATH%%:*}\\t2\\tns\\t3\\n"\n')
        with open(os.path.join(self.folder, "libpprof.so.0"), "w", encoding="utf-8"):
            pass
        lines, _ = self.table("markers_shared")
        self.assertEqual(self.rows(lines)[0][0], f"1 {self.folder}")

    def results(self, name, *rows):
        path = os.path.join(self.folder, name + ".tsv")
        with open(path, "w", encoding="utf-8") as out:
            out.write("machine\tone\n" + "".join("\t".join(row) + "\n" for row in rows))
        return path

    def page(self, text, *results):
        path = os.path.join(self.folder, "page.md")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        subprocess.run([sys.executable, TABLE, "--page", path, *results], check=True)
        with open(path, encoding="utf-8") as made:
            return made.read()

    def test_results_are_kept(self):
        self.program("cpu", "printf 'row\\ta\\t2\\tns\\t3\\n'\n")
        path = os.path.join(self.folder, "here.tsv")
        subprocess.run([sys.executable, TABLE, self.folder, "--only", "cpu", "--results", path],
                       stdout=subprocess.DEVNULL, check=True)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertRegex(lines[0], r"^machine\t.* CPUs, .*load .*, \d{4}-\d\d-\d\d$")
        self.assertEqual(lines[1:], ["cpu\ta\t2\tns\t3"])

    def test_page_has_a_column_for_each_machine(self):
        text = "x\n<!-- table markers -->\nold\n<!-- end -->\ny\n"
        made = self.page(text, self.results("A", ["cpu", "a", "2", "ns", "3"],
                                            ["cpu", "b", "4", "x", "-5"]),
                         self.results("B", ["cpu", "a", "9", "ns", "4"],
                                      ["chrome", "c", "1", "x", "0"]))
        self.assertEqual(made, "x\n<!-- table markers -->\n| | bound | A | B |\n|---|---|---|---|\n"
                         "| a, ns | <= 3, <= 4 | 2 | **9** |\n| b, x | >= 5 | **4** |  |\n"
                         "<!-- end -->\ny\n")

    def test_page_has_two_threads_in_brackets(self):
        made = self.page("<!-- table markers -->\n<!-- end -->\n", self.results(
            "A", ["markers", "a, 1 thread", "1", "x", "2"], ["markers", "a, 2 threads", "3", "x", "2"],
            ["markers", "b, 1 thread", "1", "x", "2"]))
        self.assertIn("| a (2 threads), x | <= 2 | 1 (**3**) |\n| b (2 threads), x | <= 2 | 1 |\n",
                      made)

    def test_rows_that_differ_in_one_word_are_one_line(self):
        made = self.page("<!-- table reports -->\n<!-- end -->\n", self.results(
            "A", ["jobs", "1 lane: --jobs 2", "1.9", "x", "-1.4"],
            ["jobs", "1 lane: --jobs 4", "2", "x", "-2.8"]),
            self.results("B", ["jobs", "1 lane: --jobs 2", "1.5", "x", "-1.4"]))
        self.assertIn("| 1 lane: --jobs 2; 4, x | >= 1.4, >= 2.8 | 1.9; **2** | 1.5; - |\n", made)

    def test_parts_have_a_column_for_each_log(self):
        made = self.page("<!-- table parts -->\n<!-- end -->\n", self.results(
            "A", ["parts", "1 lane: decode", "80", "i", "0"], ["parts", "8 lanes: decode", "90", "i", "0"],
            ["parts", "8 lanes: rest", "7", "i", "0"]), self.results("B"))
        self.assertIn("| | 1 lane | 8 lanes |\n|---|---|---|\n| decode | 80 | 90 |\n| rest |  | 7 |\n",
                      made)


def rows_of(text, head):
    """The cells of the tables that begin with a line like that."""
    for table in re.findall(head + r".*\n\|[-|]+\n((?:\|.*\n)+)", text):
        for line in table.splitlines():
            yield [cell.strip() for cell in line.strip("|").split("|")]


class PageTest(unittest.TestCase):

    def setUp(self):
        with open(PAGE, encoding="utf-8") as file:
            self.text = file.read()

    def test_page_is_what_the_results_say(self):
        results = sorted(glob.glob(os.path.join("bench", "results", "host", "*.tsv")))
        self.assertTrue(results)
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(PAGE, folder)
            subprocess.run([sys.executable, TABLE, "--page", copy, *results], check=True)
            with open(copy, encoding="utf-8") as file:
                self.assertEqual(file.read(), self.text,
                                 "run bench/table.py --page " + " ".join([PAGE, *results]))

    def test_what_is_missed_has_a_reason(self):
        reasons = [row[0] for row in rows_of(self.text, r"\| above its bound \|")]
        missed = [row[0] for row in rows_of(self.text, r"\| \| bound \|")
                  if any("**" in cell for cell in row)]
        self.assertTrue(missed)
        self.assertEqual([row for row in missed
                          if not any(fnmatch.fnmatchcase(row, reason) for reason in reasons)], [])
        self.assertEqual([reason for reason in reasons
                          if not any(fnmatch.fnmatchcase(row, reason) for row in missed)], [])


if __name__ == "__main__":
    unittest.main()
