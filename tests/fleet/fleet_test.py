#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`pprof-report fleet` as far as it needs no DuckDB: which runs of a folder are whole, who is
missing, and the SQL. What engines answer is told by `./dev peers fleet spark`. TOOL."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv[1])
TABLES = ("attribute call capture counter device device_range flow host_range lane mark note run"
          " site step_cost stream total waker").split()
VIEWS = "stages stragglers imbalance tail busy ranks clocks".split()
# The magic, four bytes, that those are four, the magic.
WHOLE = b"PAR1" + b"meta" + b"\4\0\0\0PAR1"


class Fleet(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)

    def add(self, run, rank):
        folder = os.path.join(self.folder, f"run={run}", f"rank={rank}")
        os.makedirs(folder)
        for table in TABLES:
            self.write(os.path.join(folder, table + ".parquet"), WHOLE)
        return folder

    def write(self, path, data):
        with open(path, "wb") as file:
            file.write(data)

    def call(self, *options):
        """(exit status, standard output, what it said, without the folder's name)"""
        done = subprocess.run([TOOL, "fleet", *options], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False,
                              env={**os.environ, "PPROF_DUCKDB": "/no/such/file"})
        return (done.returncode, done.stdout.decode(),
                done.stderr.decode().replace(self.folder, "F"))

    def sql(self, *options, code=0):
        status, text, said = self.call(self.folder, "--view", "ranks", *options)
        self.assertEqual(code, status, said)
        return text, said

    def test_usage(self):
        self.add("a", 0)
        needs = "pprof-report: 'fleet' needs a folder, and a query or --view; see docs/sql.md\n"
        self.assertEqual((2, "", needs), self.call(self.folder))
        self.assertEqual((2, "", needs), self.call(self.folder, "SELECT 1", "--view", "tail"))
        self.assertEqual((2, "", needs), self.call("--view", "tail"))
        status, _, said = self.call(self.folder, "--view", "tall")
        self.assertEqual(2, status)
        self.assertIn("did you mean 'tail'?", said)

    def test_no_library(self):
        self.add("a", 0)
        status, text, said = self.call(self.folder, "--", "SELECT 1")
        self.assertEqual((2, ""), (status, text))
        self.assertIn("pprof-report: PPROF_DUCKDB: /no/such/file: cannot open", said)

    def test_no_run(self):
        self.assertEqual(
            (3, "", "pprof-report: F: no run in it; `pprof-report export parquet LOG... -o F` puts"
             " them there\n"), self.call(self.folder, "SELECT 1"))

    def made(self, query, engine):
        _, text, said = self.call(self.folder, query, "--print-sql", engine)
        self.assertEqual("", said)
        self.assertTrue(text.endswith(query))
        return re.findall(r"^CREATE TEMPORARY VIEW (\w+)", text, re.M)

    def test_what_a_query_needs_is_made_first(self):
        self.add("a", 0)
        for engine in ("duckdb", "spark"):
            self.assertEqual(["note"], self.made("SELECT * FROM note", engine))
            self.assertEqual([], self.made("SELECT 1 AS notes, 2 AS my_note", engine))
            self.assertEqual([], self.made("SELECT t.note, 1 AS call FROM t", engine))
            # By its words, of which one is no table there.
            self.assertEqual("run call stages".split(),
                             self.made("SELECT * FROM stages", engine))
            for view in VIEWS:
                self.assertEqual(1, self.made("SELECT * FROM " + view, engine).count(view))

    def test_views_have_one_text_for_both_engines(self):
        self.add("a", 0)
        texts = [[statement for statement in self.sql("--print-sql", engine)[0].split(";\n")
                  if not re.match(r"SET|.*read_parquet|.*USING parquet", statement)]
                 for engine in ("duckdb", "spark")]
        self.assertIn("FROM run r", texts[0][-1])
        self.assertEqual(*texts)

    def test_a_whole_fleet_is_a_pattern_for_spark(self):
        for rank in range(3):
            self.add(f"a{rank}", rank)
        text, said = self.sql("--print-sql", "spark")
        self.assertEqual("", said)
        self.assertIn(f"path '{self.folder}/run=*/rank=*/run.parquet'", text)
        self.assertEqual(3, self.sql("--print-sql", "duckdb")[0].count("run.parquet"))

    def test_folders_may_have_any_name(self):
        self.folder = os.path.join(self.folder, "it's {a,b}\\[1]*?")
        self.add("a", 0)
        begin, name = os.path.split(self.folder)
        text = self.sql("--print-sql", "duckdb")[0]
        self.assertIn(f"['{begin}/it''s {{a,b}}\\[1]*?/run=a/rank=0/run.parquet']", text)
        # In Spark a literal has escapes of its own, around those of the pattern.
        text = self.sql("--print-sql", "spark")[0]
        self.assertIn(f"(basePath '{begin}/it\\'s {{a,b}}\\\\[1]*?', path '{begin}/it\\'s "
                      "\\\\{a,b\\\\}\\\\\\\\\\\\[1\\\\]\\\\*\\\\?/run=*/rank=*/run.parquet')", text)

    def test_what_is_not_whole_is_named_and_left_out(self):
        for rank in range(6):
            self.add(f"a{rank}", rank)
        place = os.path.join(self.folder, "run=a%d", "rank=%d")
        os.remove(os.path.join(place % (1, 1), "site.parquet"))
        self.write(os.path.join(place % (2, 2), "site.parquet"), WHOLE[:-1])
        self.write(os.path.join(place % (3, 3), "site.parquet"), b"PAR0" + WHOLE[4:])
        # Longer than the file.
        self.write(os.path.join(place % (4, 4), "site.parquet"), b"PAR1meta\5\0\0\0PAR1")
        os.mkdir(os.path.join(self.folder, ".unfinished-run=a6.77"))
        text, said = self.sql("--print-sql", "spark", code=4)
        damaged = "pprof-report: F/run=a%d/rank=%d/site.parquet: %s; the run is left out"
        self.assertEqual(sorted([
            damaged % (1, 1, "is missing"), damaged % (2, 2, "is cut or damaged"),
            damaged % (3, 3, "is cut or damaged"), damaged % (4, 4, "is cut or damaged"),
            "pprof-report: F/.unfinished-run=a6.77: its export did not finish; the run is left"
            " out"]), sorted(said.splitlines()))
        self.assertIn(f"path '{self.folder}/run={{a0,a5}}/rank=*/run.parquet'", text)

    def test_a_folder_of_0_1_has_no_table_that_came_later(self):
        """With rows of newer runs beside it; a newer one that is cut is damaged."""
        query = "SELECT * FROM waker"
        os.remove(os.path.join(self.add("a", 0), "waker.parquet"))
        for engine in ("duckdb", "spark"):
            self.assertEqual(["waker"], self.made(query, engine))
            text = self.call(self.folder, query, "--print-sql", engine)[1]
            self.assertIn("AS host_range, ", text)
            self.assertNotIn("parquet", text)
        newer = self.add("b", 1)
        text = self.call(self.folder, query, "--print-sql", "duckdb")[1]
        self.assertIn(f"read_parquet(['{newer}/waker.parquet']", text)
        self.assertIn("/run=*/rank=*/waker.parquet'",
                      self.call(self.folder, query, "--print-sql", "spark")[1])
        self.write(os.path.join(newer, "waker.parquet"), WHOLE[:-1])
        self.assertEqual(4, self.call(self.folder, query, "--print-sql", "duckdb")[0])

    def test_a_run_without_a_rank_is_named_and_left_out(self):
        """An empty folder, and what is none."""
        self.add("a0", 0)
        os.mkdir(os.path.join(self.folder, "run=a1"))
        self.write(os.path.join(self.folder, "run=a2"), b"")
        text, said = self.sql("--print-sql", "spark", code=4)
        nothing = "pprof-report: F/run=%s: cannot be read, or has no rank; the run is left out"
        self.assertEqual([nothing % "a1", nothing % "a2"], sorted(said.splitlines()))
        self.assertIn(f"path '{self.folder}/run={{a0}}/rank=*/run.parquet'", text)

    def test_ranks_that_are_missing_are_named(self):
        for rank in (0, 2, 3, 7, "__HIVE_DEFAULT_PARTITION__"):
            self.add(f"a{rank}", rank)
        _, said = self.sql("--print-sql", "duckdb")
        self.assertEqual("pprof-report: of ranks 0 to 7, 4 are missing: 1, 4 to 6\n", said)

    def test_many_that_are_damaged_are_not_all_named(self):
        for rank in range(12):
            self.add(f"a{rank}", rank)
            if rank:
                self.write(os.path.join(self.folder, f"run=a{rank}", f"rank={rank}",
                                        "run.parquet"), b"")
        _, said = self.sql("--print-sql", "duckdb", code=4)
        self.assertEqual(11, len(said.splitlines()))
        self.assertIn("pprof-report: further ones are not named\n", said)

    def test_each_view_is_in_the_document(self):
        with open("docs/sql.md", encoding="utf-8") as file:
            text = file.read()
        for view in VIEWS:
            self.assertIn(f"\n#### {view}\n", text)


unittest.main(argv=sys.argv[:1])
