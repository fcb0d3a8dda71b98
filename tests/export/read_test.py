#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pprof.read: the tables of tests/export/make_run.c as Python has them, each cell as in the file of
the format `sqlite`; what is damaged, and errors."""
import json
import os
import sqlite3
import subprocess
import sys
import unittest
import warnings
import zlib

import export_case
from export_case import REST, TOOL, ms

PACKAGE = os.path.abspath("python")
sys.dont_write_bytecode = True
os.environ["PPROF_LIBRARY"], = REST
sys.path[:0] = [PACKAGE, os.path.join("tests", "support")]
import pprof  # noqa: E402  (found by the lines above)
from patience import SECONDS  # noqa: E402
from pprof import _read  # noqa: E402

# What SQL works out of the others, or has of each lane.
NOT_READ = {("host_range", "parent"), ("device_range", "parent"), ("total", "lane")}
TABLES_NOT_READ = {"note", "waker", "server", "blame"}
IO, INVALID, UNAVAILABLE, VERSION = 5, 2, 4, 7


class Read(export_case.Case):

    def read_damaged(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            tables = pprof.read(self.path(name))
        self.assertEqual([(RuntimeWarning, tables.damage, __file__)],
                         [(one.category, str(one.message), one.filename) for one in told])
        return tables

    def data(self, name="rich.pplog"):
        with open(self.path(name), "rb") as file:
            return bytearray(file.read())

    def refused(self, status, path):
        with self.assertRaises(pprof.Error) as raised:
            pprof.read(path)
        self.assertEqual(status, raised.exception.status, raised.exception)
        return str(raised.exception)

    def run_program(self, program, *arguments, **variables):
        return subprocess.run([sys.executable, "-c", program, *arguments], cwd=self.folder,
                              env={**os.environ, "PYTHONPATH": PACKAGE, "PPROF_RECLAIM": "0",
                                   "PYTHONDONTWRITEBYTECODE": "1", **variables}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS,
                              check=False)

    def assert_as_sql(self, log):
        """Every column and cell; what is NULL there is 0 here, or an empty text."""
        file = log + ".sqlite"
        self.export("sqlite", "--force", log, "-o", file)
        tables = pprof.read(self.path(log))
        self.assertIsNone(tables.damage)
        db = sqlite3.connect(self.path(file))
        names = {name for (name,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")}
        self.assertEqual(names - TABLES_NOT_READ, set(tables))
        for name, table in tables.items():
            columns = [row[1] for row in db.execute("PRAGMA table_info(%s)" % name)]
            self.assertEqual([c for c in columns if (name, c) not in NOT_READ], list(table), name)
            query = "SELECT %s FROM %s" % (", ".join(table), name)
            if name == "total":
                query += " WHERE lane IS NULL AND value != 0"
            for column, theirs in zip(table, zip(*db.execute(query))):
                nothing = "" if isinstance(table[column], list) else 0
                self.assertEqual([nothing if value is None else value for value in theirs],
                                 [type(value)(ours) if name == "run" and value is not None else ours
                                  for ours, value in zip(table[column], theirs)], (name, column))
                self.assertEqual(len(theirs), len(table[column]), (name, column))
        db.close()
        return tables

    def test_host_ranges(self):
        tables = pprof.read(self.path("rich.pplog"))
        names, table = tables["site"]["name"], tables["host_range"]
        self.assertEqual(
            [("ProfileStep", 0, ms(0), ms(10), 0, 1), ("ProfileStep", 0, ms(10), ms(30), 1, 1),
             ('pre;pare "<x>"', 1, ms(0), ms(2), 0, 0), ("infer", 1, ms(2), ms(8), 0, 0),
             ("serve", 0, ms(0), ms(8), 0, 0), ("infer", 1, ms(12), ms(18), 0, 0),
             ("serve", 0, ms(10), ms(20), 0, 0), ("fetch", 0, ms(1), ms(9), 0, 1),
             ("infer", 0, ms(5), ms(25), 0, 0)],
            [(names[site - 1], *rest) for site, *rest in zip(
                *(table[column] for column in ("site", "depth", "start_ns", "end_ns", "step",
                                               "is_loose")))])
        self.assertEqual([0, 0, 0, 0, 0, ms(5), 0, 0, 0], list(table["user_ns"]))
        self.assertEqual([0, 0, 0, 0, 4, 0, 0, 0, 0], list(table["items"]))

    def test_columns_are_buffers_without_gaps(self):
        for table in pprof.read(self.path("rich.pplog")).values():
            self.assertEqual(1, len({len(column) for column in table.values()}))
            for column in table.values():
                if not isinstance(column, list):
                    view = memoryview(column)
                    self.assertTrue(view.c_contiguous)
                    self.assertIn(view.format, "BIQd")

    def test_cells_are_those_of_sql(self):
        self.assert_as_sql("rich.pplog")

    def test_several_runs(self):
        done = self.call("merge", "rich.pplog", "other.pplog", "-o", "both.pplog")
        self.assertEqual(0, done.returncode, done.stderr)
        tables = self.assert_as_sql("both.pplog")
        self.assertEqual(["node1", "node2"], tables["run"]["host"])
        self.assertEqual([9, 9], [list(tables["host_range"]["run"]).count(run) for run in (1, 2)])

    def test_ids_that_others_get(self):
        """Threads that come and go, names that are met once, requests, batches of all kinds."""
        done = self.run_program("""
import pprof, threading
def work(number):
    pprof.thread_name("thread %d" % number)
    for i in range(300):
        with pprof.range("one %d of %d" % (i, number), category="mine") as one:
            one.flow(2 ** 62 + i)
            pprof.count("depth", i)
            pprof.mark("here")
            one.work(flops=i + 1.5)
pprof.start("output: many.pplog\\nmemory_limit: 2MiB\\n")
for number in range(20):
    thread = threading.Thread(target=work, args=[number])
    thread.start()
    thread.join()
    pprof.step(items=3)
pprof.stop()
""")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        tables = self.assert_as_sql("many.pplog")
        self.assertEqual(6000, len(tables["counter"]["id"]))
        self.assertEqual(6000, len(tables["flow"]["flow"]))
        self.assertLessEqual({"thread %d" % number for number in range(20)},
                             set(tables["lane"]["name"]))

    def test_totals_are_those_of_the_report(self):
        trust = json.loads(self.call("-f", "json", "rich.pplog").stdout)["trust"]
        self.assertEqual(list(trust)[:len(_read._TOTALS)], list(_read._TOTALS))
        self.assertEqual({"disbelieved", "not_crash_safe", "notes"},  # no totals of a sink's
                         set(trust) - set(_read._TOTALS))
        total = pprof.read(self.path("rich.pplog"))["total"]
        self.assertEqual({"recorded": 16, "crash_safe": 1, "no_device_time": 1},
                         dict(zip(total["name"], total["value"])))

    def test_a_log_that_ends_early(self):
        data = self.data()
        tables = self.read_damaged("cut.pplog", data[:-16])
        self.assertIn("ended without stop", tables.damage)
        self.assertEqual(9, len(tables["host_range"]["id"]))

    def test_a_log_with_a_hole(self):
        data = self.data()
        seen = set()
        for at in range(64, len(data), 8):
            changed = bytearray(data)
            changed[at:at + 8] = bytes(byte ^ 0xff for byte in data[at:at + 8])
            tables = self.read_damaged("bad.pplog", changed)
            self.assertIn("bad.pplog@0x", tables.damage)
            seen.add(len(tables["host_range"]["id"]) + len(tables["device_range"]["id"]))
        self.assertEqual(13, max(seen))
        self.assertLess(min(seen), 13)

    def test_errors(self):
        self.assertIn("No such file", self.refused(IO, self.path("none.pplog")))
        self.assertIn("is a folder", self.refused(IO, self.folder))
        with open(self.path("text.pplog"), "w", encoding="utf-8") as file:
            file.write("[]" * 100)
        self.assertIn("not a pprof log", self.refused(INVALID, self.path("text.pplog")))
        data = self.data()
        data[8] = 2  # the major version
        data[60:64] = zlib.crc32(data[:60]).to_bytes(4, "little")
        with open(self.path("newer.pplog"), "wb") as file:
            file.write(data)
        self.assertIn("log version 2.0", self.refused(VERSION, self.path("newer.pplog")))
        self.assertIn("there is no log", self.refused(0, None))

    def test_without_the_library(self):
        done = self.run_program("""
import pprof
try:
    pprof.read("rich.pplog")
except pprof.Error as error:
    print(error.status, error)
""", PPROF_ENABLE="0")
        self.assertEqual("%d a log is read by the library, which PPROF_ENABLE=0 leaves out\n"
                         % UNAVAILABLE, done.stdout, done.stderr)

    def test_the_last_log(self):
        done = self.run_program("""
import pprof
pprof.start("output: last.pplog")
with pprof.range("here"):
    pass
pprof.stop()
print("here" in pprof.read()["site"]["name"])
""")
        self.assertEqual("True\n", done.stdout, done.stderr)

    def test_what_is_raised_in_the_reading_is_raised(self):
        class Stopped(_read._Reader):
            def _take(self, told):
                raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            Stopped().read(self.path("rich.pplog"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
