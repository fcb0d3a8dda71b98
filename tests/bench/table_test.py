#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of `./dev bench`, made of programs that only print rows."""
import os
import subprocess
import sys
import tempfile
import unittest

TABLE = os.path.join("bench", "table.py")


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

    def test_markers_and_reports_have_tables_of_their_own(self):
        self.program("cpu", "printf 'row\\ta\\t2\\tns\\t3\\n'\n")
        self.program("chrome", "printf 'row\\tb\\t4\\tx\\t3\\n'\n")
        lines, _ = self.table("chrome", "cpu")
        heads = [i for i, line in enumerate(lines) if ", load " in line]
        self.assertEqual([lines[i].split(":")[0] for i in heads],
                         ["Markers, from the marker to the disk", "Reports"])
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


if __name__ == "__main__":
    unittest.main()
