#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A log in SQLite, read by Python's own module: the rows of tests/export/make_run.c, the tables
and views of docs/sql.md."""
import re
import sqlite3

import export_case
from export_case import ms

# name, parent's name, depth, start, end, step, loose
HOST = [
    ("ProfileStep", None, 0, 0, 10, 0, 1),
    ("ProfileStep", None, 0, 10, 30, 1, 1),
    ('pre;pare "<x>"', "serve", 1, 0, 2, None, 0),
    ("infer", "serve", 1, 2, 8, None, 0),
    ("serve", None, 0, 0, 8, None, 0),
    ("infer", "serve", 1, 12, 18, None, 0),
    ("serve", None, 0, 10, 20, None, 0),
    ("fetch", None, 0, 1, 9, None, 1),
    ("infer", None, 0, 5, 25, None, 0),
]
# name, parent's name and start, submit, start, end
DEVICE = [
    ("gemm", "infer", 2, 3, 4, 7),
    ("gemm", "infer", 12, 13, 14, 17),
    ("Memcpy HtoD", "infer", 12, 14, 16, 19),
    ("gemm", "serve", 10, 19, None, None),
]


def times(row, first):
    """Milliseconds from a place on become ns; None stays."""
    return row[:first] + tuple(ms(n) if n is not None else None for n in row[first:])


class Sqlite(export_case.Case):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = cls("ask")
        made.export("sqlite", "rich.pplog", "-o", "rich.sqlite")
        cls.db = sqlite3.connect(made.path("rich.sqlite"))

    @classmethod
    def tearDownClass(cls):
        cls.db.close()
        super().tearDownClass()

    def ask(self, query, db=None):
        return (db or self.db).execute(query).fetchall()

    def test_it_is_whole(self):
        self.assertEqual([("ok",)], self.ask("PRAGMA integrity_check"))

    def test_host_ranges(self):
        expected = [row[:3] + (ms(row[3]), ms(row[4])) + row[5:] for row in HOST]
        self.assertEqual(expected, self.ask(
            "SELECT s.name, p.name, r.depth, r.start_ns, r.end_ns, r.step, r.is_loose"
            " FROM host_range r JOIN site s ON s.id = r.site"
            " LEFT JOIN host_range q ON q.id = r.parent LEFT JOIN site p ON p.id = q.site"
            " ORDER BY r.id"))

    def test_device_ranges(self):
        self.assertEqual([times(row, 2) for row in DEVICE], self.ask(
            "SELECT s.name, p.name, q.start_ns, d.submit_ns, d.start_ns, d.end_ns"
            " FROM device_range d JOIN site s ON s.id = d.site"
            " LEFT JOIN host_range q ON q.id = d.parent LEFT JOIN site p ON p.id = q.site"
            " ORDER BY d.id"))
        self.assertEqual([("gpu:0", "compute", 7, 4)], self.ask(
            "SELECT v.name, t.name, t.number, COUNT(*) FROM device_range d"
            " JOIN stream t ON t.id = d.stream JOIN device v ON v.id = t.device GROUP BY t.id"))

    def test_what_ranges_carry(self):
        self.assertEqual([("serve", ms(0), 4.0, 1000.0, None)], self.ask(
            "SELECT s.name, start_ns, items, bytes, flops FROM host_range r"
            " JOIN site s ON s.id = r.site WHERE items IS NOT NULL"))
        self.assertEqual([("infer", ms(12), ms(5), ms(1), None)], self.ask(
            "SELECT s.name, start_ns, user_ns, sys_ns, run_queue_ns FROM host_range r"
            " JOIN site s ON s.id = r.site WHERE user_ns IS NOT NULL"))
        self.assertEqual([("gemm", ms(3), '{"grid":[1,2,3]}')], self.ask(
            "SELECT name, submit_ns, attributes FROM launch WHERE attributes IS NOT NULL"))
        self.assertEqual([(77, "infer", ms(2)), (77, "serve", ms(0))], self.ask(
            "SELECT f.flow, s.name, r.start_ns FROM flow f JOIN host_range r"
            " ON r.id = f.host_range JOIN site s ON s.id = r.site ORDER BY r.id"))

    def test_points(self):
        self.assertEqual([("depth", "main", ms(1), 3.0), ("depth", "main", ms(11), 5.5)], self.ask(
            "SELECT s.name, l.name, at_ns, value FROM counter c JOIN site s ON s.id = c.site"
            " JOIN lane l ON l.id = c.lane"))
        self.assertEqual([("note", ms(15))], self.ask(
            "SELECT s.name, at_ns FROM mark m JOIN site s ON s.id = m.site"))

    def test_what_stands_beside(self):
        self.assertEqual(
            [("0123456789abcdef0123456789abcdef", "node1", 100, 0, "serve --port 80",
              1700000000000000000)],
            self.ask("SELECT uuid, host, pid, rank, command, base_ns FROM run"))
        self.assertEqual([(0, "process", None), (1, "main", 100), (2, "worker", 101)], self.ask(
            "SELECT number, name, tid FROM lane WHERE number < 3 ORDER BY number"))
        self.assertEqual([(0, 0, ms(30))], self.ask(
            "SELECT number, start_ns, end_ns FROM capture"))
        self.assertEqual([(16,)], self.ask(
            "SELECT value FROM total WHERE name = 'recorded' AND lane IS NULL"))
        self.assertEqual([("no_device_time", 1)], self.ask("SELECT name, value FROM lost"))
        self.assertEqual([(0xff8000,)], self.ask(
            "SELECT color FROM site WHERE color IS NOT NULL"))

    def test_views(self):
        self.assertEqual([("infer", 3, ms(32), ms(6), ms(20)), ("serve", 2, ms(18), ms(8), ms(10))],
                         self.ask("SELECT name, calls, total_ns, min_ns, max_ns FROM stage"
                                  " WHERE name IN ('infer', 'serve') ORDER BY name"))
        # Of 6, 6 and 20 ms the second of three, the third of three.
        self.assertEqual([(ms(6), ms(20), ms(20))], self.ask(
            "SELECT p50_ns, p90_ns, p99_ns FROM stage_quantile WHERE name = 'infer'"))
        self.assertEqual([("infer", ms(32)), ('pre;pare "<x>"', ms(2)), ("serve", ms(4))],
                         self.ask("SELECT name, self_ns FROM stage_self ORDER BY name"))
        self.assertEqual([(0, ms(10)), (1, ms(20))],
                         self.ask("SELECT number, length_ns FROM step"))
        self.assertEqual([(77, ms(0), ms(8), 2)], self.ask(
            "SELECT flow, start_ns, end_ns, num_ranges FROM request"))
        self.assertEqual([("infer", ms(1)), ("infer", ms(1)), ("infer", ms(2)), ("serve", None)],
                         self.ask("SELECT stage, delay_ns FROM launch ORDER BY submit_ns"))
        self.assertEqual([("depth", 2, 3.0, 4.25, 5.5)], self.ask(
            "SELECT name, num, min_value, avg_value, max_value FROM level"))
        self.assertEqual([("main", 2, ms(18)), ("worker", 1, ms(20))], self.ask(
            "SELECT name, num, marked_ns FROM thread ORDER BY name"))

    def test_bubbles(self):
        """The worker's range ends behind all others, and serve within no gap of the worker's."""
        self.assertEqual(
            [("main", "serve", None, None, ms(8), ms(10), ms(2)),
             ("worker", "infer", None, None, ms(0), ms(5), ms(5))],
            self.ask("SELECT role, next, for_role, for_name, start_ns, end_ns, length_ns"
                     " FROM bubble WHERE next IS NOT NULL ORDER BY role"))
        self.assertEqual(
            [("main", ms(20)), ("worker", ms(25))],
            self.ask("SELECT role, start_ns FROM bubble WHERE next IS NULL ORDER BY role"))
        self.assertEqual([("main", 2), ("worker", 2)], self.ask(
            "SELECT role, num FROM waiting WHERE for_role IS NULL ORDER BY role"))

    def test_document_has_every_column(self):
        with open("docs/sql.md", encoding="utf-8") as file:
            rows = re.findall(r"^\| `(\w+)` \| (`[^|]*`) \|", file.read(), re.M)
        documented = {name: re.findall(r"\w+", columns) for name, columns in rows}
        found = {
            name: [row[1] for row in self.ask("PRAGMA table_info(%s)" % name)]
            for (name,) in self.ask("SELECT name FROM sqlite_master WHERE type IN"
                                    " ('table', 'view') AND name NOT LIKE 'sqlite_%'")
        }
        self.assertEqual(found, documented)

    def test_questions_of_the_document(self):
        with open("docs/sql.md", encoding="utf-8") as file:
            queries = re.findall(r"```sql\n(.*?)```", file.read(), re.S)
        self.assertEqual(3, len(queries))
        answers = [self.ask(query) for query in queries]
        self.assertEqual([(77, ms(8), "serve", "host", ms(8)), (77, ms(8), "infer", "host", ms(6))],
                         answers[0])
        self.assertEqual([("infer", "gemm", 2, ms(6), ms(1)), ("serve", "gemm", 1, None, None)],
                         answers[1])
        # Step 0 is the median, 10 ms; step 1 is twice as long, and no longer.
        self.assertEqual([], answers[2])

    def test_several_runs(self):
        self.export("sqlite", "rich.pplog", "other.pplog", "-o", "two.sqlite")
        db = sqlite3.connect(self.path("two.sqlite"))
        self.assertEqual([("node1", 9, ms(32)), ("node2", 9, ms(32))], self.ask(
            "SELECT host, (SELECT COUNT(*) FROM host_range r WHERE r.run = n.id),"
            " (SELECT total_ns FROM stage s WHERE s.run = n.id AND name = 'infer')"
            " FROM run n ORDER BY host", db))
        self.assertEqual([(0,)], self.ask(
            "SELECT COUNT(*) FROM host_range r JOIN host_range p ON p.id = r.parent"
            " WHERE p.run != r.run", db))
        db.close()


export_case.main()
