#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verb `sql`: its three forms, what it refuses, and what it says without SQLite."""
import json
import sqlite3
import os
import subprocess

import export_case

NAMES = "SELECT id, name, color FROM site WHERE id BETWEEN 2 AND 3 ORDER BY id"


class Sql(export_case.Case):

    def ask(self, *options):
        done = self.call("sql", *options)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(b"", done.stderr)
        return done.stdout.decode()

    def fails(self, code, words, *options):
        done = self.call("sql", *options)
        self.assertEqual((code, b""), (done.returncode, done.stdout), done.stderr)
        self.assertIn(words, done.stderr.decode())

    def test_forms(self):
        self.assertEqual('id  name               color\n'
                         ' 2  serve           16744448\n'
                         ' 3  pre;pare "<x>"\n', self.ask("rich.pplog", NAMES))
        self.assertEqual('id,name,color\n2,serve,16744448\n3,"pre;pare ""<x>""",\n',
                         self.ask("rich.pplog", "-f", "csv", NAMES))
        self.assertEqual(
            {"columns": [{"name": "id"}, {"name": "name"}, {"name": "color"}],
             "rows": [[2, "serve", 16744448], [3, 'pre;pare "<x>"', None]]},
            json.loads(self.ask("rich.pplog", "-f", "json", NAMES)))

    def test_what_a_terminal_or_a_spreadsheet_would_run(self):
        query = "SELECT char(27) || '[2J' AS x, '=1+1' AS y, 1e999 AS z"
        self.assertEqual("x        y       z\n\\x1B[2J  =1+1  Inf\n",
                         self.ask("rich.pplog", query))
        self.assertEqual("x,y,z\n\\x1B[2J,\"'=1+1\",Inf\n", self.ask("rich.pplog", "-f", "csv", query))
        self.assertEqual("x,y,z\n\\x1B[2J,=1+1,Inf\n",
                         self.ask("rich.pplog", "-f", "csv", "--raw", query))
        self.assertEqual([["\x1b[2J", "=1+1", None]],
                         json.loads(self.ask("rich.pplog", "-f", "json", query))["rows"])

    def test_a_file_is_asked_as_it_is(self):
        self.export("sqlite", "rich.pplog", "-o", "made.sqlite")
        query = "SELECT * FROM stage_quantile"
        self.assertEqual(self.ask("rich.pplog", query), self.ask("made.sqlite", query))

    # What a view of a stranger's file does may never end.
    def test_of_a_strangers_file_tables_alone_answer(self):
        endless = "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n"
        for path, run in (("other.sqlite", f"CREATE VIEW run AS {endless}"),
                          ("ours.sqlite", f"DROP TABLE run; CREATE VIEW run AS {endless};"
                                          f"DROP VIEW call; CREATE VIEW call AS {endless}")):
            if path == "ours.sqlite":
                self.export("sqlite", "rich.pplog", "-o", path)
            with sqlite3.connect(self.path(path)) as db:
                db.executescript("CREATE TABLE t(x); INSERT INTO t VALUES(7);" + run)
            db.close()
            for query in ("SELECT COUNT(*) FROM run", "SELECT id FROM main.run LIMIT 1"):
                self.fails(2, ": of a file only tables answer; ask for those", path, query)
            self.assertEqual("x\n7\n", self.ask(path, "-f", "csv", "SELECT x FROM t"))
        self.fails(2, ": of a file only tables answer", "ours.sqlite", "SELECT * FROM main.call")
        self.assertEqual(self.ask("rich.pplog", "SELECT * FROM call"),
                         self.ask("ours.sqlite", "SELECT * FROM call"))
        self.fails(2, "the query took longer than --timeout 1ms: ask for less", "--timeout", "1ms",
                   "ours.sqlite", f"SELECT COUNT(*) FROM ({endless})")
        self.fails(2, "'--timeout soon' is no time", "--timeout", "soon", "ours.sqlite", "SELECT 1")

    def test_parents(self):
        query = ("SELECT s.name AS name, t.name AS around, COUNT(*) AS n FROM host_range h"
                 " JOIN site s ON s.id = h.site LEFT JOIN host_range p ON p.id = h.parent"
                 " LEFT JOIN site t ON t.id = p.site GROUP BY 1, 2 ORDER BY 1, 2")
        # More in a range than wait for it.
        many = 70000
        self.trace("many.json", *[("all", 1, 0, 10 * many)] + [
            event for i in range(many) for event in (("call", 1, 10 * i + 1, 7),
                                                     ("in", 1, 10 * i + 2, 1))])
        self.assertEqual(f"name,around,n\nall,,1\ncall,all,{many}\nin,call,{many}\n",
                         self.ask("many.json", "-f", "csv", query))

    def test_several(self):
        self.assertEqual("host,n\nnode1,9\nnode2,9\n", self.ask(
            "other.pplog", "rich.pplog", "-f", "csv",
            "SELECT host, COUNT(*) AS n FROM host_range h JOIN run r ON r.id = h.run"
            " GROUP BY host"))

    def test_output(self):
        self.ask("rich.pplog", "-o", "answer.txt", "SELECT 1 AS one")
        with open(self.path("answer.txt")) as file:
            self.assertEqual("one\n  1\n", file.read())
        self.fails(2, "answer.txt: exists", "rich.pplog", "-o", "answer.txt", "SELECT 1")

    def trace(self, name, *events, **more):
        """A Chrome trace of (name, thread, begin, length); one without a length is cut."""
        with open(self.path(name), "w") as file:
            json.dump({"traceEvents": [
                {"pid": 1, "tid": tid, "name": of, "ts": at,
                 **({"ph": "B"} if length is None else {"ph": "X", "dur": length})}
                for of, tid, at, length in events], **more}, file)
        return name

    def rows(self, *logs_and_query):
        return json.loads(self.ask("-f", "json", *logs_and_query))["rows"]

    def test_cut_calls_are_in_no_count_average_or_extreme(self):
        log = self.trace("cut.json", ("a", 1, 0, 10), ("a", 1, 20, None), ("b", 2, 30, None),
                         ("c", 3, 0, 50))
        self.assertEqual(
            [["a", 1, 40000, 10000, 10000, 10000], ["b", 0, 20000, None, None, None],
             ["c", 1, 50000, 50000, 50000, 50000]],
            self.rows(log, "SELECT name, calls, total_ns, avg_ns, min_ns, max_ns FROM stage"
                           " ORDER BY name"))
        self.assertEqual([["a", 1, 40000], ["b", 0, 20000], ["c", 1, 50000]], self.rows(
            log, "SELECT name, calls, self_ns FROM stage_self ORDER BY name"))

    def test_what_a_trace_does_not_say_is_null(self):
        log = self.trace("silent.json", ("a", 1, 0, 10))
        self.assertEqual([["unknown", "unknown", None]], self.rows(
            log, "SELECT COALESCE(host, 'unknown'), COALESCE(command, 'unknown'), rank FROM run"))

    def test_bubbles_without_a_time_of_day(self):
        events = [(name, tid, at, 50) for name, tid, at in (
            ("produce", 1, 0), ("consume", 2, 60), ("produce", 1, 120))]
        query = "SELECT next, for_name, start_ns, length_ns FROM bubble WHERE next IS NOT NULL"
        told = [["produce", "consume", 50000, 70000], ["consume", "produce", 0, 60000]]
        log = self.trace("handed.json", *events)
        self.assertEqual(told, self.rows(log, query))
        # How two such lie to each other is not known.
        other = self.trace("other.json", ("ends in all gaps", 1, 0, 55))
        self.assertEqual(told, self.rows(log, other, query))
        self.assertEqual([["consume", "produce", 1], ["produce", "consume", 1]], self.rows(
            log, "SELECT w.for_name, b.next, num FROM waiting w JOIN bubble b ON b.lane = w.lane"
                 " WHERE w.for_name = b.for_name ORDER BY w.for_name"))

    def test_a_share_of_a_name_that_a_request_has_twice(self):
        at = 1700000000000000000

        def span(number, name, begin, end):
            return {"traceId": "ab" * 16, "spanId": "%016x" % number, "name": name, "kind": 1,
                    "startTimeUnixNano": str(at + begin), "endTimeUnixNano": str(at + end)}

        spans = [span(1, "req", 0, 100000000), span(2, "tool", 10000000, 20000000),
                 span(3, "tool", 50000000, 60000000), span(4, "idle", 0, 1000),
                 span(5, "idle", 300000000, 300009000)]
        with open(self.path("spans.json"), "w") as file:
            json.dump({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}, file)
        engine = self.trace("engine.json", ("step", 1, 0, 100000), baseTimeNanoseconds=at)
        self.assertEqual(
            [["idle", "step", 1, 1000, 0.1], ["req", "step", 1, 100000000, 1.0],
             ["tool", "step", 1, 20000000, 1.0]],
            self.rows("spans.json", engine, "SELECT name, other_name, calls, ns, share"
                                            " FROM meanwhile ORDER BY name"))

    def test_refused(self):
        self.fails(2, "'sql' needs LOG... QUERY", "rich.pplog")
        self.fails(2, "syntax error", "rich.pplog", "SELEC")
        self.fails(2, "no such table: absent", "rich.pplog", "SELECT * FROM absent")
        for query in ("SELECT 1; SELECT 2", "SELECT 1; DELETE FROM run", "SELECT 1; SELEC", ""):
            self.fails(2, "the query is to be one SELECT: it changes nothing", "rich.pplog", query)
        self.assertEqual("1\n1\n", self.ask("rich.pplog", "-f", "csv", ";SELECT 1; ; -- one"))
        self.fails(3, "no_log", "no_log.pplog", "SELECT 1")
        self.export("sqlite", "rich.pplog", "-o", "whole.sqlite")
        for name in ("rich.pplog", "whole.sqlite"):
            for query in ("DELETE FROM run", "CREATE TABLE x(y)", "", "VACUUM INTO 'copy.sqlite'"):
                self.fails(2, "", name, query)
            self.fails(2, "", name, "ATTACH 'second.sqlite' AS second")
        self.assertFalse(os.path.exists(self.path("second.sqlite")))
        self.assertFalse(os.path.exists(self.path("copy.sqlite")))

    def test_without_the_library(self):
        folder = self.path("libraries")
        os.mkdir(folder)
        for name in ("libsqlite3.so.0", "libsqlite3.so"):
            with open(os.path.join(folder, name), "w") as file:
                file.write("no library")
        done = subprocess.run([export_case.TOOL, "sql", "rich.pplog", "SELECT 1"],
                              cwd=self.folder, env={**os.environ, "LD_LIBRARY_PATH": folder},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(2, done.returncode)
        self.assertIn(b"there is no libsqlite3.so.0", done.stderr)


export_case.main()
