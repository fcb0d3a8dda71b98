#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nsys's schema, written and read. Written: what scripts for nsys's files ask for. Read: such a
file gives the stages of the log it was made of; a hostile one gives a message."""
import json
import random
import shutil
import sqlite3

import export_case
from export_case import ms


class Nsys(export_case.Case):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls("ask").export("sqlite", "--schema", "nsys", "rich.pplog", "-o", "n.sqlite")

    def ask(self, query, name="n.sqlite"):
        db = sqlite3.connect(self.path(name))
        found = db.execute(query).fetchall()
        db.close()
        return found

    def stages(self, *inputs):
        done = self.call("sql", *inputs, "-f", "json",
                         "SELECT name, category, place, calls, total_ns, min_ns, max_ns FROM stage"
                         " WHERE name != 'launch'")
        self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(done.stdout)["rows"]

    def test_ranges(self):
        """The query of nsys's documentation for names and threads."""
        self.assertEqual(
            [("pre;pare \"<x>\"", ms(0), ms(2), 100, 100), ("serve", ms(0), ms(8), 100, 100),
             ("infer", ms(2), ms(8), 100, 100), ("infer", ms(5), ms(25), 100, 101),
             ("serve", ms(10), ms(20), 100, 100), ("infer", ms(12), ms(18), 100, 100)],
            self.ask('SELECT COALESCE(n.text, s.value), start, "end",'
                     " globalTid / 0x1000000 % 0x1000000, globalTid % 0x1000000 FROM NVTX_EVENTS n"
                     " LEFT JOIN StringIds s ON s.id = n.textId WHERE eventType = 59"
                     ' ORDER BY start, "end"'))
        self.assertEqual(
            [("ProfileStep#0", ms(0), ms(10)), ("fetch", ms(1), ms(9)),
             ("ProfileStep#1", ms(10), ms(30))],
            self.ask('SELECT COALESCE(n.text, s.value), start, "end" FROM NVTX_EVENTS n'
                     " LEFT JOIN StringIds s ON s.id = n.textId WHERE eventType = 60"
                     " ORDER BY start"))
        self.assertEqual([("note", ms(15), None)], self.ask(
            'SELECT s.value, start, "end" FROM NVTX_EVENTS n JOIN StringIds s ON s.id = n.textId'
            " WHERE eventType = 34"))

    def test_work(self):
        self.assertEqual(
            [("gemm", ms(4), ms(7), 0, 7, ms(3), 100), ("gemm", ms(14), ms(17), 0, 7, ms(13), 100)],
            self.ask('SELECT s.value, k.start, k."end", k.deviceId, k.streamId, r.start,'
                     " r.globalTid % 0x1000000 FROM CUPTI_ACTIVITY_KIND_KERNEL k"
                     " JOIN StringIds s ON s.id = k.demangledName"
                     " JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId"
                     " ORDER BY k.start"))
        self.assertEqual([(ms(16), ms(19), "Host-to-Device")], self.ask(
            'SELECT start, "end", label FROM CUPTI_ACTIVITY_KIND_MEMCPY m'
            " JOIN ENUM_CUDA_MEMCPY_OPER o ON o.id = m.copyKind"))
        self.assertEqual([(100, "serve --port 80")], self.ask("SELECT pid, name FROM PROCESSES"))
        self.assertEqual([(0, "gpu:0")], self.ask("SELECT id, name FROM TARGET_INFO_GPU"))
        self.assertEqual([(1700000000000000000,)], self.ask(
            "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME"))
        self.assertEqual([("main", 100), ("worker", 101)], self.ask(
            "SELECT value, globalTid % 0x1000000 FROM ThreadNames JOIN StringIds ON id = nameId"
            " ORDER BY 2"))

    def test_what_has_no_place_is_said(self):
        _, said = self.export("sqlite", "--schema", "nsys", "rich.pplog", "-o", "said.sqlite")
        self.assertIn("sqlite has no place for: 2 counter values, 1 device ranges without a time, "
                      "2 requests of ranges, 1 amounts of work, 1 uses of the CPU, "
                      "1 attributes of ranges\n", said)

    def test_read_again(self):
        done = self.call("import", "n.sqlite", "-o", "again.pplog")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(self.stages("rich.pplog"), self.stages("again.pplog"))
        found = self.call("sql", "again.pplog", "-f", "csv",
                          "SELECT name, stage, start_ns FROM launch ORDER BY start_ns")
        self.assertEqual("name,stage,start_ns\ngemm,infer,4000000\ngemm,infer,14000000\n"
                         "Memcpy HtoD,infer,16000000\n", found.stdout.decode())
        self.assertIn(b"serve", self.call("n.sqlite").stdout)

    def test_numbers_that_do_not_fit(self):
        """A thread has 24 bits there: those that need more have some that no other has."""
        self.export("sqlite", "--schema", "nsys", self.texts_of_threads("texts"), "-o", "t.sqlite")
        threads = self.ask("SELECT globalTid FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY 1",
                           "t.sqlite")
        self.assertEqual(4, len(set(threads)))
        self.assertEqual({1 << 24}, {thread & ~0xffffff for thread, in threads})
        self.assertEqual(1, threads[0][0] & 0xffffff)
        self.assertEqual([1 << 23] * 3, [thread & 1 << 23 for thread, in threads[1:]])
        self.assertEqual(threads, self.ask("SELECT globalTid FROM ThreadNames ORDER BY 1",
                                           "t.sqlite"))
        self.assertEqual([("w2",), ("worker",)], self.ask(
            "SELECT value FROM ThreadNames JOIN StringIds ON id = nameId WHERE value LIKE 'w%'"
            " ORDER BY 1", "t.sqlite"))

    def test_each_run_is_a_machine(self):
        self.export("sqlite", "--schema", "nsys", "rich.pplog", self.texts_of_threads("second"), "-o",
                    "runs.sqlite")
        self.assertEqual([(0, 100), (1, 1)], self.ask(
            "SELECT globalPid >> 48, globalPid >> 24 & 0xffffff FROM PROCESSES ORDER BY 1",
            "runs.sqlite"))

    def test_processes_of_one_number(self):
        """Two machines may have a process 100 each."""
        db = sqlite3.connect(self.path("twins.sqlite"))
        db.executescript(
            "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
            "INSERT INTO StringIds VALUES(1, 'work');"
            "CREATE TABLE PROCESSES(globalPid INTEGER, pid INTEGER, name TEXT);"
            "CREATE TABLE NVTX_EVENTS(start INTEGER, \"end\" INTEGER, eventType INTEGER,"
            " category INTEGER, text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER);")
        for machine in (0, 1):
            process = machine << 48 | 100 << 24
            db.execute("INSERT INTO PROCESSES VALUES(?, 100, 'p')", (process,))
            db.execute("INSERT INTO NVTX_EVENTS VALUES(0, 1000, 59, NULL, NULL, ?, 1, 0)",
                       (process | 7,))
        # One without an end lasts as long as all that is there.
        db.execute("INSERT INTO NVTX_EVENTS VALUES(500, NULL, 59, NULL, 'open', ?, NULL, 0)",
                   (100 << 24 | 8,))
        db.commit()
        db.close()
        self.assertEqual(0, self.call("import", "twins.sqlite", "-o", "twins.pplog").returncode)
        self.assertEqual([["open", "UserDefined", "host", 0, 500, None, None],
                          ["work", "UserDefined", "host", 1, 1000, 1000, 1000],
                          ["work", "UserDefined", "host", 1, 1000, 1000, 1000]],
                         sorted(self.stages("twins.pplog")))

    def test_graphs_and_tables_that_are_not_read(self):
        """A graph's launch is work of the device; rows of other tables of events are counted."""
        self.make("graph.sqlite",
                  "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
                  "INSERT INTO StringIds VALUES(1, 'cudaGraphLaunch');"
                  "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, \"end\", globalTid,"
                  " correlationId, nameId);"
                  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1000, 2000, 7 << 24 | 7, 1, 1);"
                  "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, \"end\", deviceId, graphId,"
                  " contextId, streamId, correlationId, globalPid);"
                  "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES"
                  "(3000, 9000, 0, 5, 1, 7, 1, 7 << 24);"
                  "CREATE TABLE OSRT_API(start, \"end\", nameId, globalTid);"
                  "INSERT INTO OSRT_API VALUES(1, 2, 1, 7), (3, 4, 1, 7);"
                  "CREATE TABLE GPU_METRICS(timestamp, typeId, metricId, value);"
                  "INSERT INTO GPU_METRICS VALUES(1, 2, 3, 4);"
                  "CREATE TABLE SCHED_EVENTS(start, cpu);"
                  "CREATE TABLE DIAGNOSTIC_EVENT(timestamp, text);"
                  "INSERT INTO DIAGNOSTIC_EVENT VALUES(1, 'Profiling has started.');")
        done = self.call("--strict", "graph.sqlite")
        self.assertEqual(0, done.returncode, "they are no events of ours: " + repr(done.stderr))
        self.assertIn("Complete: ", done.stdout.decode())
        self.assertIn("3 rows of tables that are not read left out: 1 of GPU_METRICS, 2 of OSRT_API",
                      done.stdout.decode())
        self.assertEqual(0, self.call("import", "graph.sqlite", "-o", "graph.pplog").returncode)
        self.assertIn(["CUDA graph 5", "Kernel", "device", 1, 6000, 6000, 6000],
                      self.stages("graph.pplog"))

    NVTX = ("CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
            "CREATE TABLE NVTX_EVENTS(start, \"end\", eventType, category, text, globalTid,"
            " textId, domainId);")
    RUNTIME = ("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, \"end\", globalTid,"
               " correlationId, nameId);")
    KERNEL = ("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId, streamId,"
              " correlationId, globalPid, demangledName);")

    def test_names_are_cut_as_when_recorded(self):
        self.make("emit.sqlite", self.NVTX + "".join(
            f"INSERT INTO NVTX_EVENTS VALUES({i * 1000}, {i * 1000 + 500}, {kind}, NULL,"
            f" '{name}', 7 << 24 | 7, NULL, 0);" for i, (name, kind) in enumerate(
                (f"{name}, {tail}", kind) for name, tail, kind in (
                    ("aten::linear", "seq = 46174, op_id = 993406", 59),
                    ("aten::linear", "seq = 46175, op_id = 993407", 59),
                    ("aten::linear", "op_id = 3, sizes = [[2, 3]]", 59),
                    ("AddmmBackward0", "stashed seq=12", 60),
                    ("AddmmBackward0", "stashed seq=13", 60)))))
        self.assertEqual(0, self.call("import", "emit.sqlite", "-o", "emit.pplog").returncode)
        self.assertEqual([["AddmmBackward0", 2], ["aten::linear", 3]],
                         sorted([row[0], row[3]] for row in self.stages("emit.pplog")))

    def test_work_belongs_to_the_process_that_it_names(self):
        """Work without a launch here is not of who launches most; a process of work alone, too."""
        work = [(7, 1, 1), (7, 2, 1), (8, 90, 0), (8, 91, 0), (9, 92, 0), (8, 3, 1)]
        script = self.NVTX + self.RUNTIME + self.KERNEL + (
            "INSERT INTO StringIds VALUES(1, 'cudaLaunchKernel'), (2, 'gemm');")
        for pid in (7, 8):
            script += (f"INSERT INTO NVTX_EVENTS VALUES(0, 9000, 59, NULL, 'in {pid}',"
                       f" {pid} << 24 | {pid}, NULL, 0);")
        for i, (pid, correlation, is_launched) in enumerate(work):
            if is_launched:
                script += (f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES({1000 * i + 100},"
                           f" {1000 * i + 200}, {pid} << 24 | {pid}, {correlation}, 1);")
            script += (f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({1000 * i + 300},"
                       f" {1000 * i + 300 + pid}, 0, 7, {correlation}, {pid} << 24, 2);")
        self.make("two.sqlite", script)
        done = self.call("import", "two.sqlite", "-o", "two.pplog")
        self.assertEqual(0, done.returncode, done.stderr)
        done = self.call("sql", "two.pplog", "-f", "json",
                         "SELECT r.pid, COUNT(*), SUM(w.length_ns) FROM launch w JOIN run r"
                         " ON r.id = w.run GROUP BY 1 ORDER BY 1")
        self.assertEqual([[7, 2, 14], [8, 3, 24], [9, 1, 9]],
                         json.loads(done.stdout)["rows"], done.stderr)

    def test_a_column_that_is_not_there(self):
        """Another version of nsys: the table is left out and said, nothing is damaged."""
        script = (self.NVTX + "INSERT INTO NVTX_EVENTS VALUES(0, 900, 59, NULL, 'a', 7 << 24 | 7,"
                  " NULL, 0);" + self.KERNEL.replace(" correlationId,", "") +
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1, 2, 0, 7, 7 << 24, 1),"
                  "(3, 4, 0, 7, 7 << 24, 1);" + "CREATE TABLE PROCESSES(pid, name);"
                  "CREATE TABLE TARGET_INFO_SESSION_START_TIME(x);")
        self.make("lacks.sqlite", script)
        done = self.call("lacks.sqlite")
        self.assertEqual(0, done.returncode, done.stderr)
        text = done.stdout.decode()
        self.assertIn("2 rows of tables that lack a column left out:"
                      " 2 of CUPTI_ACTIVITY_KIND_KERNEL without correlationId",
                      " ".join(text.split()))
        self.assertIn("2 lost", text)
        self.assertNotIn("damaged", text)
        self.assertEqual(1, self.call("--strict", "lacks.sqlite").returncode)

    def test_a_file_of_nsys_is_called_so(self):
        self.make("kind.sqlite", self.NVTX + self.RUNTIME +
                  "INSERT INTO StringIds VALUES(1, 'cudaLaunchKernel');"
                  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 2, 7 << 24 | 7, 1, 1);")
        text = self.call("-v", "kind.sqlite").stdout.decode()
        self.assertIn("imported from a file of nsys", text)
        self.assertNotIn("PyTorch", text)

    def refused(self, name, words):
        done = self.call(name)
        self.assertEqual(3, done.returncode)
        self.assertIn(words, done.stderr.decode())

    def make(self, name, script):
        db = sqlite3.connect(self.path(name))
        db.executescript(script)
        db.close()

    def test_others_are_refused(self):
        self.make("empty.sqlite", "CREATE TABLE x(y)")
        self.refused("empty.sqlite", "no file of nsys")
        self.export("sqlite", "rich.pplog", "-o", "own.sqlite")
        self.refused("own.sqlite", "made by `export sqlite`; `pprof-report sql` asks it")
        self.make("view.sqlite",
                  "CREATE TABLE StringIds(id, value); CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE"
                  " c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n AS start FROM c")
        self.refused("view.sqlite", "no file of nsys")
        for name, table, words in (
                ("rocpd.db", "rocpd_kernel_dispatch_1a2b(id, start, end)",
                 "rocprofv3 (rocpd): use rocpd convert -i FILE -f pftrace, then traceconv json"),
                ("a.rpd", "rocpd_api(id, start, end); CREATE TABLE rocpd_string(id)", "rpd2tracing.py makes a Chrome trace"),
                ("nvprof.db", "StringTable(_id_, value)", "nsys export --type sqlite")):
            self.make(name, f"CREATE TABLE {table}")
            self.refused(name, words)
        self.make("columns.sqlite",
                  "CREATE TABLE StringIds(id, value); CREATE TABLE NVTX_EVENTS(start)")
        self.refused("columns.sqlite", "its table NVTX_EVENTS has no column 'end'")

    def test_damaged(self):
        """Bytes changed at random, or the end missing: never a crash, and a message where it is
        no file any more."""
        with open(self.path("n.sqlite"), "rb") as file:
            whole = file.read()
        dice = random.Random(25)
        for i in range(60):
            bad = bytearray(whole)
            for _ in range(dice.choice((1, 8, 64))):
                bad[dice.randrange(16, len(bad))] = dice.randrange(256)
            if i % 4 == 0:
                del bad[dice.randrange(16, len(bad)):]
            with open(self.path("bad.sqlite"), "wb") as file:
                file.write(bad)
            for options in (["bad.sqlite"], ["sql", "bad.sqlite", "SELECT * FROM NVTX_EVENTS"]):
                done = self.call(*options)
                self.assertIn(done.returncode, (0, 2, 3, 4), (i, options, done.stderr))
                if done.returncode:
                    self.assertNotEqual(b"", done.stderr, i)

    def test_a_file_is_not_changed(self):
        shutil.copy(self.path("n.sqlite"), self.path("kept.sqlite"))
        self.call("kept.sqlite")
        self.call("sql", "kept.sqlite", "SELECT 1")
        with open(self.path("n.sqlite"), "rb") as one, open(self.path("kept.sqlite"), "rb") as two:
            self.assertEqual(one.read(), two.read())


export_case.main()
